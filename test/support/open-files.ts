import { readdirSync, readlinkSync } from 'node:fs';

/** The files that a process has open: under which path they can be opened again, and what they are. */
export function openFilesOf(pid: number): { readonly path: string; readonly target: string }[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    const path = `${folder}/${name}`;
    try {
      return [{ path, target: readlinkSync(path) }];
    } catch {
      // It has been closed since the folder was read.
      return [];
    }
  });
}
