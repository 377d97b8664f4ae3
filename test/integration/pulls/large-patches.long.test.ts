/** Patches that pulls cannot share because of their size, or share in pieces. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, type PullAnswer, PullServer, piecesOf, tableView, textOf } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

const views = { item: tableView('item', 'id', 'item/'), note: tableView('note', 'id', 'note/') };

let database: TestDatabase;
let watched: WatchedDatabase;
let server: PullServer;

beforeAll(async () => {
  database = await createSynced(
    'create table item (id text primary key, n text); create table note (id int primary key)',
    views,
  );
});
afterAll(() => database.drop());

beforeEach(async () => {
  await database.pool.query('delete from item; delete from note; truncate tidemark.client, tidemark.client_group');
  watched = new WatchedDatabase();
  server = new PullServer(database.url, views, watched.watch);
});
afterEach(() => server.close());

const run = (text: string) => database.pool.query(text);
const groups = (count: number) => Array.from({ length: count }, (_, i) => `group ${i}`);

async function first(): Promise<unknown> {
  const { cookie } = await server.pull(null);
  watched.take();
  return cookie;
}

describe('a patch that is too large for memory', () => {
  const large = `insert into item select 'x' || n, repeat('x', 1000) from generate_series(1, 1000) n`;

  it('is streamed to each group with its own mutation IDs', async () => {
    await run(`insert into tidemark.client_group values ('group 2', 'ada');
      insert into tidemark.client values ('c', 'group 2', 1, pg_current_xact_id())`);
    const cookie = await first();
    await run(large);
    const answers = await Promise.all(groups(4).map((clientGroupID) => server.pull(cookie, { clientGroupID })));
    expect(watched.take()).toEqual(['poll', 'probe', 'copy', 'copy', 'copy', 'copy']);
    expect(answers.map(({ patch }) => patch.length)).toEqual([1000, 1000, 1000, 1000]);
    expect(answers.map(({ lastMutationIDChanges }) => lastMutationIDChanges)).toEqual([{}, {}, { c: 1 }, {}]);
  });

  it.each([0, 1, 2])(
    'releases its connection when a reader leaves after %i pieces, and reaches the other reader',
    async (pieces) => {
      const cookie = await first();
      await run(large);
      for (let round = 0; round < 5; round++) {
        const [abandoned, complete] = await Promise.all(
          groups(2).map((clientGroupID) => server.answer(cookie, { clientGroupID })),
        );
        const reader = piecesOf(abandoned!)[Symbol.asyncIterator]();
        for (let i = 0; i <= pieces; i++) await reader.next();
        await reader.return?.();
        expect((JSON.parse(await textOf(complete!)) as PullAnswer).patch).toHaveLength(1000);
      }
    },
  );

  /** More than the server's connections. */
  const rounds = [1, 2, 3, 4];

  it('releases its connection when more has changed since it was planned', async () => {
    for (const round of rounds) {
      await run('delete from item');
      const cookie = await first();
      await run(large);
      watched.before = async ({ kind }) => {
        if (kind !== 'copy') return;
        watched.before = () => {};
        await run(`insert into note values (${round})`);
      };
      expect((await server.pull(cookie)).patch).toHaveLength(1001);
      expect(watched.take().filter((kind) => kind === 'copy')).toHaveLength(2);
    }
  });

  it('releases its connection when the pull is refused late', async () => {
    const cookie = await first();
    await run(large);
    for (const round of rounds) {
      watched.before = async ({ kind }) => {
        if (kind === 'copy') await run(`insert into tidemark.client_group values ('group ${round}', 'ben')`);
      };
      await expect(server.pull(cookie, { clientGroupID: `group ${round}` })).rejects.toMatchObject({
        code: 'forbidden',
      });
    }
  });

  it('releases its connection when a first pull is refused', async () => {
    await run(`${large}; insert into tidemark.client_group values ('of ben', 'ben')`);
    for (const _ of rounds) {
      await expect(server.pull(null, { clientGroupID: 'of ben' })).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

it('patches of medium size are kept once, and sent in pieces even if a reader leaves', async () => {
  const cookie = await first();
  await run(`insert into item select 'x' || n, repeat('ü', 500) from generate_series(1, 100) n`);
  const answers = await Promise.all(groups(3).map((clientGroupID) => server.answer(cookie, { clientGroupID })));
  expect(watched.take()).toEqual(['poll', 'probe', 'copy']);
  const reader = piecesOf(answers[0]!)[Symbol.asyncIterator]();
  await reader.next();
  await reader.return?.();
  for (const answer of answers.slice(1)) {
    const { patch } = JSON.parse(await textOf(answer)) as PullAnswer;
    expect(patch).toHaveLength(100);
    expect(patch[0]).toMatchObject({ value: { n: 'ü'.repeat(500) } });
  }
});
