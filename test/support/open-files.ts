import { readdirSync, readlinkSync } from 'node:fs';

/** The open files of a process: paths under which they can be opened again, and their targets. */
export function openFilesOf(pid: number): { readonly path: string; readonly target: string }[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    const path = `${folder}/${name}`;
    try {
      return [{ path, target: readlinkSync(path) }];
    } catch {
      // The file has been closed since the folder was read.
      return [];
    }
  });
}
