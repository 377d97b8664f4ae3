import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from '../errors.js';
import { errorCode, isRunning, startMark } from './processes.js';

const attempts = 5;
const markName = /^lock-(\d+)-[0-9a-f]{16}$/;

/**
 * Marks the folder as this process's own and returns the function that gives it up. Marks of processes that are gone
 * do not count. It holds among the processes of one host: two containers must not share a folder.
 *
 * Each process first makes a mark of its own, then looks for others and steps back if there is a living one. So of
 * two at the same time at most one goes on; as both may step back, they try again. A mark's name tells one process
 * for all time, which makes removing a stale one safe: nobody else can have made it anew in the meantime.
 * @throws SetupError when a living process has the folder.
 */
export async function lockFolder(directory: string): Promise<() => void> {
  const mine = nameOfMark(process.pid);
  const path = join(directory, mine);
  for (let attempt = 1; ; attempt++) {
    if (!create(path)) throw new SetupError(inUse(directory, 'this process'));
    const holder = otherHolder(directory, mine);
    if (holder === undefined) return () => rmSync(path, { force: true });
    rmSync(path, { force: true });
    if (attempt === attempts) throw new SetupError(inUse(directory, `process ${holder}`));
    await delay(10 + Math.random() * 50);
  }
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

/** The living process with the oldest mark: the younger ones only try. Removes the marks of the dead. */
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

/** When the mark was made; now, if it has just been removed. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}

function inUse(directory: string, who: string): string {
  return `The embedded database in ${directory} is in use by ${who}. Stop it there, choose another folder, or set DATABASE_URL.`;
}
