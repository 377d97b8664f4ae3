import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readAhead } from '../../../packages/tidemark/src/http/sending/read-ahead.js';
import { Budget } from '../../../packages/tidemark/src/limits/budget.js';
import { memoryLog } from '../../support/log.js';
import { openFilesOf } from '../../support/open-files.js';

const MiB = 1024 * 1024;
const pieceLength = 64 * 1024;
const pieceCount = 160;

interface Setup {
  readonly total?: number;
  readonly failAt?: number;
  readonly failsToEnd?: boolean;
  /** The time that each piece but the first takes, in milliseconds. */
  readonly pieceMs?: number;
}

/** Ten megabytes in numbered pieces, and a client that can read them slowly. */
function setUp({ total = 100 * MiB, failAt = Number.POSITIVE_INFINITY, failsToEnd = false, pieceMs = 0 }: Setup = {}) {
  let yielded = 0;
  let isOver = false;
  async function* pieces(): AsyncGenerator<Uint8Array, undefined> {
    try {
      for (let i = 0; i < pieceCount; i++) {
        if (i === failAt) throw new Error('The database went away');
        yielded++;
        yield Buffer.alloc(pieceLength, i);
        await sleep(pieceMs);
      }
    } finally {
      isOver = true;
      if (failsToEnd) await Promise.reject(new Error('The database went away'));
    }
  }
  const { log, lines } = memoryLog();
  const budget = new Budget({ total, perUser: total, refusal: '' });
  const caller = { context: { userID: 'ann' }, requestID: 'r', log };
  const iterator = readAhead(pieces(), caller, budget)[Symbol.asyncIterator]();
  /** Takes this many bytes, or the rest, and expects the next ones in order. */
  let taken = 0;
  const take = async (max = Number.POSITIVE_INFINITY): Promise<number> => {
    const from = taken;
    while (taken - from < max) {
      const { value, done } = await iterator.next();
      if (done) break;
      const expected = Buffer.from(value).every((byte, i) => byte === Math.floor((taken + i) / pieceLength));
      expect(expected).toBe(true);
      taken += value.byteLength;
    }
    return taken - from;
  };
  return { take, iterator, budget, lines, yielded: () => yielded, isOver: () => isOver };
}

/** Makes temporary files go to a new folder. */
function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** The paths through which this process accesses its open files in a folder, even after they were deleted. */
function openFilesIn(folder: string): string[] {
  return openFilesOf(process.pid)
    .filter(({ target }) => target.startsWith(folder))
    .map(({ path }) => path);
}

it('a client that reads gets each piece immediately', async () => {
  const { take, yielded, budget } = setUp();
  await take(1);
  expect(yielded()).toBe(1);
  await take(10 * pieceLength);
  expect(yielded()).toBe(11);
  expect(await take()).toBe((pieceCount - 11) * pieceLength);
  expect(budget.used).toBe(0);
});

it('everything is read ahead for a client that stops reading, and nothing is left behind', async () => {
  const folder = useFolder();
  const { take, isOver, budget, lines } = setUp();
  await take(1);
  await vi.waitFor(() => expect(isOver()).toBe(true), { timeout: 20_000 });
  expect(budget.used).toBe((pieceCount - 1) * pieceLength);
  expect(readdirSync(folder)).toEqual([]);
  expect(await take()).toBe((pieceCount - 1) * pieceLength);
  expect(budget.used).toBe(0);
  expect(lines).toEqual([]);
});

it('a client that pauses and catches up repeatedly gets everything in order', async () => {
  const { take, budget, isOver } = setUp();
  let length = 0;
  for (let i = 0; i < 8 && !isOver(); i++) {
    length += await take(3 * pieceLength);
    await sleep(400);
  }
  length += await take();
  expect(length).toBe(pieceCount * pieceLength);
  expect(budget.used).toBe(0);
});

it('pieces that exceed the budget wait for the client', async () => {
  const total = 2 * MiB;
  const { take, yielded, isOver, budget } = setUp({ total });
  await take(1);
  await vi.waitFor(() => expect(budget.used).toBe(total), { timeout: 20_000 });
  await sleep(100);
  // The client has taken the first piece, and one piece does not fit.
  expect(yielded()).toBe(total / pieceLength + 2);
  expect(isOver()).toBe(false);
  expect(await take()).toBe((pieceCount - 1) * pieceLength);
  expect(budget.used).toBe(0);
});

it('without a folder for temporary files, the source waits for the client, and the log says so', async () => {
  useFolder();
  vi.stubEnv('TMPDIR', '/does/not/exist');
  const { take, yielded, lines } = setUp();
  await take(1);
  await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 20_000 });
  expect(lines).toMatchObject([{ level: 'warn', fields: { error: { code: 'ENOENT' } } }]);
  expect(yielded()).toBe(1);
  expect(await take()).toBe((pieceCount - 1) * pieceLength);
});

it('a failure of the source reaches the client, and leaves nothing behind', async () => {
  const folder = useFolder();
  const { take, isOver, budget } = setUp({ failAt: 20 });
  await take(1);
  await vi.waitFor(() => expect(isOver()).toBe(true), { timeout: 20_000 });
  await expect(take()).rejects.toThrow('The database went away');
  expect(budget.used).toBe(0);
  expect(openFilesIn(folder)).toEqual([]);
});

it('an unreadable temporary file fails the response, and leaves nothing behind', async () => {
  const folder = useFolder();
  const total = 2 * MiB;
  const { take, yielded, isOver, budget } = setUp({ total });
  await take(1);
  // After a piece that does not fit, nothing more is written. A write would fill the truncated part with zeros.
  await vi.waitFor(() => expect(yielded()).toBe(total / pieceLength + 2), { timeout: 20_000 });
  for (const file of openFilesIn(folder)) truncateSync(file);
  await expect(take()).rejects.toThrow('A temporary file has been cut off');
  expect(isOver()).toBe(true);
  expect(budget.used).toBe(0);
  expect(openFilesIn(folder)).toEqual([]);
});

it('a client that disconnects during the read-ahead leaves nothing behind', async () => {
  const { take, isOver, budget, iterator } = setUp();
  await take(1);
  await vi.waitFor(() => expect(budget.used).toBeGreaterThan(0), { timeout: 20_000 });
  await iterator.return!();
  expect(isOver()).toBe(true);
  expect(budget.used).toBe(0);
});

it('a client that disconnects leaves nothing behind even if the source fails to end', async () => {
  const folder = useFolder();
  const { take, budget, iterator } = setUp({ total: 2 * MiB, failsToEnd: true });
  await take(1);
  await vi.waitFor(() => expect(budget.used).toBeGreaterThan(0), { timeout: 20_000 });
  await expect(iterator.return!()).rejects.toThrow('The database went away');
  expect(budget.used).toBe(0);
  expect(openFilesIn(folder)).toEqual([]);
});

it('a client that disconnects while it waits for a piece leaves nothing behind', async () => {
  const folder = useFolder();
  const { take, isOver, iterator } = setUp({ pieceMs: 100 });
  await take(1);
  const waiting = iterator.next();
  await sleep(10);
  await iterator.return!();
  await waiting;
  expect(isOver()).toBe(true);
  // By then, a client that is still connected would count as slow.
  await sleep(1_200);
  expect(openFilesIn(folder)).toEqual([]);
});
