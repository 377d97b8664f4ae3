import { chownSync, existsSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SetupError } from './setup-error.js';

/** The user that Postgres runs as; empty for the user of this process. */
export interface ServerUser {
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

const nobody = { uid: 65534, gid: 65534 } as const;

/**
 * Chooses the user that Postgres runs as. Postgres refuses to run as root, so if this process runs as root, Postgres
 * runs as the owner of the data, or as `nobody`, which becomes the owner.
 * @throws SetupError if this process runs as root and the platform is not Linux.
 */
export function chooseServerUser(data: string): ServerUser {
  if (process.getuid?.() !== 0) return {};
  if (process.platform !== 'linux') {
    throw new SetupError(
      'The embedded Postgres cannot run as root on this platform. Start without sudo, or set DATABASE_URL.',
    );
  }
  if (!existsSync(data)) return nobody;
  const { uid, gid } = statSync(data);
  if (uid !== 0) return { uid, gid };
  changeOwnerOfTree(data, nobody);
  return nobody;
}

/** Makes `user` the owner of a file or folder. */
export function changeOwner(path: string, user: ServerUser): void {
  if (user.uid !== undefined && user.gid !== undefined) chownSync(path, user.uid, user.gid);
}

function changeOwnerOfTree(folder: string, user: ServerUser): void {
  changeOwner(folder, user);
  for (const name of readdirSync(folder, { encoding: 'utf8', recursive: true })) changeOwner(join(folder, name), user);
}

/** Checks whether `user` can enter every folder above `path`, and enter (or run) `path` itself. */
export function canReach(user: ServerUser, path: string): boolean {
  if (user.uid === undefined) return true;
  let current = realpathSync(path);
  while (mayPass(user, statSync(current))) {
    if (current === dirname(current)) return true;
    current = dirname(current);
  }
  return false;
}

function mayPass(user: ServerUser, { mode, uid, gid }: Stats): boolean {
  if (uid === user.uid) return (mode & 0o100) !== 0;
  return (mode & (gid === user.gid ? 0o010 : 0o001)) !== 0;
}
