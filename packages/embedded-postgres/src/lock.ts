import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, isRunning, startMark } from './processes.js';
import { SetupError } from './setup-error.js';

const maxAttempts = 5;
const markName = /^lock-(\d+)-[0-9a-f]{16}$/;

/**
 * Locks the folder for this process, and returns the function that unlocks it. Lock files of dead processes do not
 * count. The lock works only among the processes of one host: two containers must not share a folder.
 *
 * Each process first creates its own lock file, then looks for others, and backs off if another living process has one.
 * So at most one of two simultaneous processes succeeds. Both may back off, so they try again. The name of a lock file
 * identifies one process forever. This makes it safe to remove a stale one: no other process can have created it again
 * in the meantime.
 * @throws SetupError if a living process holds the lock.
 */
export async function lockFolder(directory: string): Promise<() => void> {
  const mine = nameOfMark(process.pid);
  const path = join(directory, mine);
  for (let attempt = 1; ; attempt++) {
    if (!create(path)) throw new SetupError(inUse(directory, 'this process'));
    const holder = otherHolder(directory, mine);
    if (holder === undefined) return () => rmSync(path, { force: true });
    rmSync(path, { force: true });
    if (attempt === maxAttempts) throw new SetupError(inUse(directory, `process ${holder}`));
    await delay(10 + Math.random() * 50);
  }
}

/** Checks whether another living process holds the lock. */
export function isLockedByOther(directory: string): boolean {
  return existsSync(directory) && otherHolder(directory, nameOfMark(process.pid)) !== undefined;
}

function nameOfMark(pid: number): string {
  return `lock-${pid}-${createHash('sha256').update(startMark(pid)).digest('hex').slice(0, 16)}`;
}

function create(path: string): boolean {
  try {
    writeFileSync(path, '', { flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Finds the other living process with the oldest lock file: newer ones are only attempts. Removes stale files. */
function otherHolder(directory: string, mine: string): number | undefined {
  const living: { pid: number; since: number }[] = [];
  for (const name of readdirSync(directory)) {
    const pid = Number(markName.exec(name)?.[1]);
    if (Number.isNaN(pid) || name === mine) continue;
    const path = join(directory, name);
    if (isRunning(pid) && nameOfMark(pid) === name) living.push({ pid, since: timeOf(path) });
    else rmSync(path, { force: true });
  }
  return living.sort((one, other) => one.since - other.since)[0]?.pid;
}

/** Returns when the lock file was created, in milliseconds; the current time if it has just been removed. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}

function inUse(directory: string, who: string): string {
  return `The embedded database in ${directory} is in use by ${who}. Stop it there, choose another folder, or set DATABASE_URL.`;
}
