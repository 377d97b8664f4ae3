/** Pokes for any channel through which an application reaches its clients, on a real server. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import type { PokedClients } from '../../../packages/tidemark/src/protocol/poke.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import type { TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog } from '../../support/log.js';
import { createSynced } from '../../support/synced.js';
import { ddl, views } from '../pokes/notifying.js';

let database: TestDatabase;
let sync: Sync;
let lines: LogLine[];

beforeAll(async () => {
  database = await createSynced(ddl, views);
});
afterAll(() => database.drop());
beforeEach(async () => {
  sync = await start();
});
afterEach(() => sync.close());

function start(): Promise<Sync> {
  const memory = memoryLog();
  lines = memory.lines;
  return createSync({
    database: database.url,
    views,
    mutators: defineMutators({ nothing: defineMutator(() => {}) }),
    authenticate: (request) => ({ userID: request.headers.get('Authorization')! }),
    log: memory.log,
    pokes: { intervalMs: 20, maxStreams: 3, maxStreamsPerUser: 2 },
  });
}

/** Registers a hook that counts its calls. */
async function hook(ctx: UserContext, clients?: PokedClients) {
  const poke = vi.fn<() => unknown>();
  const stop = await sync.onPoke(ctx, poke, clients);
  expect(poke).toHaveBeenCalledTimes(1);
  return { stop, poke, poked: (times: number) => vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(times), 10_000) };
}

const ann = { userID: 'ann' };
const add = (owner: string) => database.pool.query('insert into item (owner_id) values ($1)', [owner]);

async function push(userID: string, clientGroupID: string) {
  const mutations = [{ clientID: randomUUID(), id: 1, name: 'nothing', args: null, timestamp: 0 }];
  const request = new Request('http://localhost/sync/push', {
    method: 'POST',
    headers: { Authorization: userID, 'Content-Type': 'application/json' },
    body: JSON.stringify({ pushVersion: 1, clientGroupID, profileID: 'p', schemaVersion: '', mutations }),
  });
  expect((await sync.fetch(request)).status).toBe(200);
}

it('a hook is called immediately, whenever the user’s view has changed, and not after it is stopped', async () => {
  const mine = await hook(ann, { clientGroupID: 'g', profileID: 'p', schemaVersion: '' });
  const other = await hook({ userID: 'ben' });
  await add('ann');
  await mine.poked(2);
  await add('ben');
  await other.poked(2);
  mine.stop();
  mine.stop();
  await add('ann');
  await add('ben');
  await other.poked(3);
  expect(mine.poke).toHaveBeenCalledTimes(2);
});

it('a hook is called for mutations without effect of its client group, or of any group of the user', async () => {
  const [mine, anyOfMine, other] = [
    await hook(ann, { clientGroupID: 'one' }),
    await hook(ann),
    await hook({ userID: 'ben' }),
  ];
  await push('ann', 'one');
  await Promise.all([mine.poked(2), anyOfMine.poked(2)]);
  await push('ann', 'two');
  await anyOfMine.poked(3);
  expect([mine.poke, other.poke].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
});

it('a hook counts as a stream until it is stopped', async () => {
  const first = await hook(ann);
  await hook(ann);
  await expect(sync.onPoke(ann, () => {})).rejects.toMatchObject({ code: 'too-many-requests' });
  await hook({ userID: 'ben' });
  await expect(sync.onPoke({ userID: 'cam' }, () => {})).rejects.toMatchObject({ code: 'unavailable' });
  first.stop();
  first.stop();
  await hook({ userID: 'cam' });
  await expect(sync.onPoke(ann, () => {})).rejects.toMatchObject({ code: 'unavailable' });
});

it('a hook ends when its context expires', async () => {
  const expiring = { userID: 'ann', expiresAt: new Date(Date.now() + 60_000) };
  const { poke } = await hook(expiring);
  const other = await hook(ann);
  expiring.expiresAt.setTime(Date.now() - 1);
  await add('ann');
  await other.poked(2);
  expect(poke).toHaveBeenCalledTimes(1);
  await vi.waitFor(async () => void (await hook(ann)));
});

it('a hook reports its end once, unless it was stopped', async () => {
  const expiring = { userID: 'ann', expiresAt: new Date(Date.now() + 60_000) };
  const ends = [vi.fn(), vi.fn(), vi.fn()] as const;
  await sync.onPoke(expiring, () => {}, {}, ends[0]);
  expiring.expiresAt.setTime(Date.now() - 1);
  await add('ann');
  await vi.waitFor(() => expect(ends[0]).toHaveBeenCalledTimes(1), 10_000);
  const stop = await sync.onPoke(ann, () => {}, {}, ends[1]);
  stop();
  await sync.onPoke({ userID: 'ben' }, () => {}, {}, ends[2].mockRejectedValueOnce(new Error('the socket is closed')));
  await sync.disconnect('ann');
  const [ended, endedLines] = [sync, lines];
  sync = await start();
  await ended.close();
  await vi.waitFor(() => expect(JSON.stringify(endedLines)).toContain('the socket is closed'), 10_000);
  expect(ends.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
});

it('a hook that throws is logged, and called again the next time', async () => {
  const failing = await hook(ann);
  const other = await hook(ann);
  failing.poke.mockImplementationOnce(() => {
    throw new Error('the channel is closed');
  });
  failing.poke.mockRejectedValueOnce(new Error('the service is away'));
  for (const times of [2, 3, 4]) {
    await add('ann');
    await Promise.all([failing.poked(times), other.poked(times)]);
  }
  const failures = lines.filter(({ message }) => message === 'A function for pokes failed');
  expect(failures.map(({ level, fields }) => [level, JSON.stringify(fields)])).toEqual([
    ['error', expect.stringContaining('the channel is closed')],
    ['error', expect.stringContaining('the service is away')],
  ]);
});

it('onPoke refuses invalid users and clients, and counts no hook for them', async () => {
  for (let i = 0; i < 3; i++) {
    await expect(sync.onPoke({ userID: '' }, () => {})).rejects.toThrow(TypeError);
    await expect(sync.onPoke(ann, () => {}, { profileID: '\0' })).rejects.toMatchObject({ code: 'malformed-request' });
    await expect(sync.onPoke(ann, () => {}, { clientGroupID: '' })).rejects.toThrow('clientGroupID must be');
  }
  await hook(ann);
});

it('a hook ends with its server, which then accepts no others', async () => {
  const { poke } = await hook(ann);
  const ended = sync;
  sync = await start();
  await ended.close();
  const other = await hook(ann);
  await add('ann');
  await other.poked(2);
  await expect(ended.onPoke(ann, () => {})).rejects.toMatchObject({ code: 'unavailable' });
  expect(poke).toHaveBeenCalledTimes(1);
});
