import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from '../../errors.js';
import { errorCode, isRunning, readIfThere, startMark } from './processes.js';

/**
 * Marks the folder as this process's own and returns the function that gives it up. The mark of a process that is
 * gone is taken over. It holds among the processes of one host: two containers must not share a folder.
 * @throws SetupError when a living process has the folder.
 */
export async function lockFolder(directory: string): Promise<() => void> {
  const path = join(directory, 'lock');
  const mine = `${process.pid}\n${startMark(process.pid)}\n`;
  while (!create(path, mine)) {
    const found = await readWhenWritten(path);
    const holder = livingHolder(found);
    if (holder !== undefined) throw new SetupError(inUse(directory, holder));
    removeIfStill(path, found);
  }
  return () => {
    if (readIfThere(path) === mine) rmSync(path, { force: true });
  };
}

function create(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Its creator may be between creating and writing it; a file that stays empty was left by a crash there. */
async function readWhenWritten(path: string): Promise<string> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const content = readIfThere(path);
    if (content?.endsWith('\n')) return content;
    await delay(20);
  }
  return readIfThere(path) ?? '';
}

function livingHolder(content: string): number | undefined {
  const [pid = '', mark] = content.split('\n');
  const holder = Number.parseInt(pid, 10);
  return holder > 0 && isRunning(holder) && startMark(holder) === mark ? holder : undefined;
}

/** Moves the file away before looking again: it may be another process's new mark by now, which goes back. */
function removeIfStill(path: string, expected: string): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  if (readIfThere(aside) === expected) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

function inUse(directory: string, holder: number): string {
  const who = holder === process.pid ? 'this process' : `process ${holder}`;
  return `The embedded database in ${directory} is in use by ${who}. Stop it there, choose another folder, or set DATABASE_URL.`;
}
