/** Reads without a client group: their load on the database, and what they share with pulls. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { linesIn, type PatchResult, type PullResult } from '../../../packages/tidemark/src/pulls/pull-result.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, PullServer, tableView } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

const views: Views<Context> = {
  item: defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx }) => sql`select id, n from item where owner_id = ${ctx.userID}`,
  }),
  first: defineView<{ kind: string }>({
    key: 'kind',
    query: ({ ctx }) =>
      sql`select distinct on (kind) kind, id from item where owner_id = ${ctx.userID} order by kind, id`,
  }),
  note: tableView('note', 'id', 'note/'),
};
const ddl = `
  create table item (id text primary key, owner_id text not null, n text not null default '0', kind numeric not null default 1);
  create index on item (owner_id);
  create table note (id text primary key)`;

let database: TestDatabase;
let watched: WatchedDatabase;
let server: PullServer;

beforeAll(async () => {
  database = await createSynced(ddl, views);
});
afterAll(() => database.drop());

beforeEach(async () => {
  await run(`
    delete from item; delete from note; delete from tidemark.client; delete from tidemark.client_group;
    insert into item (id, owner_id) values ('a1', 'ada'), ('a2', 'ada'), ('b1', 'ben')`);
  watched = new WatchedDatabase();
  server = new PullServer(database.url, views, watched.watch);
});
afterEach(() => server.close());

const run = (text: string) => database.pool.query(text);
const item = { part: { view: 'item' } } as const;

async function linesOf(result: PullResult): Promise<unknown[]> {
  const chunks: Uint8Array[] = [];
  for await (const bytes of linesIn(patchOf(result))) chunks.push(bytes);
  return JSON.parse(`[${Buffer.concat(chunks).toString()}]`) as unknown[];
}

function patchOf(result: PullResult): PatchResult {
  if (!('firstChunks' in result)) throw new Error(`It is ${result.kind}`);
  return result;
}

async function cookieOf(format: 'ops' | 'rows' = 'rows', part: { view: string; key?: string } = item.part) {
  const result = await server.read({ part, format, cookie: null });
  await linesOf(result);
  watched.take();
  return patchOf(result).cookie;
}

describe('a read', () => {
  it('without a cookie is one COPY, like a first pull', async () => {
    for (const format of ['rows', 'ops'] as const) {
      await linesOf(await server.read({ ...item, format, cookie: null }));
      expect(watched.take()).toEqual(['copy']);
    }
  });

  it('runs the statements of an unchanged pull if nothing has changed', async () => {
    const pullCookie = (await server.pull(null)).cookie;
    const read = await cookieOf();
    const unchanged = async () => {
      await server.pull(pullCookie);
      const pull = watched.take();
      expect((await server.read({ ...item, format: 'rows', cookie: read })).kind).toBe('unchanged');
      return [pull, watched.take()];
    };
    // The server probes once for a group that is not in the cache.
    expect(await unchanged()).toEqual([
      ['poll', 'probe'],
      ['poll', 'probe'],
    ]);
    expect(await unchanged()).toEqual([['poll'], ['poll']]);
    await run(`insert into note values ('n')`);
    await server.pull(pullCookie);
    watched.take();
    await server.read({ ...item, format: 'rows', cookie: read });
    expect(watched.take()).toEqual(['poll']);
  });

  it('runs one delta after rows of others change, and then only polls', async () => {
    const cookie = await cookieOf();
    await server.read({ ...item, format: 'rows', cookie });
    watched.take();
    await run(`update item set n = '1' where id = 'b1'`);
    expect((await server.read({ ...item, format: 'rows', cookie })).kind).toBe('unchanged');
    expect(watched.take()).toEqual(['poll', 'delta']);
    expect((await server.read({ ...item, format: 'rows', cookie })).kind).toBe('unchanged');
    expect(watched.take()).toEqual(['poll']);
    // Many unaffected rows justify a new cookie for ops. For rows, a new cookie would mean sending all rows again.
    await run(
      `update item set n = '2' where id = 'b1'; insert into item select 'c' || i, 'cam' from generate_series(1, 200) i`,
    );
    expect((await server.read({ ...item, format: 'rows', cookie })).kind).toBe('unchanged');
    expect((await server.read({ ...item, format: 'ops', cookie: await cookieOf() })).kind).toBe('unchanged');
  });

  it('runs a delta after its rows change, and a COPY if all rows are requested', async () => {
    const cookie = await cookieOf();
    await server.read({ ...item, format: 'rows', cookie });
    watched.take();
    await run(`update item set n = '1' where id = 'a1'`);
    const ops = await server.read({ ...item, format: 'ops', cookie });
    expect(await linesOf(ops)).toEqual([{ op: 'put', key: 'item/a1', value: { id: 'a1', n: '1' } }]);
    expect(watched.take()).toEqual(['poll', 'delta']);
    const rows = await server.read({ ...item, format: 'rows', cookie });
    expect(await linesOf(rows)).toEqual([
      { id: 'a1', n: '1' },
      { id: 'a2', n: '0' },
    ]);
    expect(watched.take()).toEqual(['delta', 'copy']);
  });

  it('shares its statements with simultaneous reads', async () => {
    const cookie = await cookieOf();
    await server.read({ ...item, format: 'ops', cookie });
    await run(`update item set n = '1' where id = 'a1'`);
    watched.take();
    const results = await Promise.all(
      Array.from({ length: 50 }, () => server.read({ ...item, format: 'ops', cookie })),
    );
    for (const one of results) expect(await linesOf(one)).toHaveLength(1);
    const kinds = watched.take();
    expect(kinds.length).toBeLessThanOrEqual(4);
    expect(kinds.filter((kind) => kind === 'delta').length).toBeLessThanOrEqual(2);
  });
});

describe('a row', () => {
  it('is found by an index', async () => {
    await run(`insert into note select 'n' || i from generate_series(1, 5000) i; analyze note`);
    await linesOf(await server.read({ part: { view: 'note', key: 'n7' }, format: 'rows', cookie: null }));
    const [{ text } = {}] = watched.statements;
    const query = /^copy \(([\s\S]*)\) to stdout$/.exec(text!)![1]!;
    const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(`explain ${query}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('note_pkey');
    expect(plan).not.toContain('Seq Scan on note');
  });

  it('is the one that the view chooses among rows with equal values', async () => {
    await run(`delete from item; insert into item (id, owner_id, kind) values ('a1', 'ada', 1.0), ('a2', 'ada', 1.00)`);
    const rowsOf = async (key: string) =>
      linesOf(await server.read({ part: { view: 'first', key }, format: 'rows', cookie: null }));
    expect(await linesOf(await server.read({ part: { view: 'first' }, format: 'rows', cookie: null }))).toEqual([
      { kind: 1, id: 'a1' },
    ]);
    expect(await rowsOf('1')).toEqual([{ kind: 1, id: 'a1' }]);
    expect(await rowsOf('1.0')).toEqual([]);
    const cookie = await cookieOf('ops', { view: 'first', key: '1' });
    await run(`delete from item where id = 'a1'`);
    const ops = await server.read({ part: { view: 'first', key: '1' }, format: 'ops', cookie });
    expect(await linesOf(ops)).toEqual([{ op: 'put', key: 'first/1', value: { kind: 1, id: 'a2' } }]);
  });

  it('is read by the same statement for all keys', async () => {
    const deltas = new Set<string>();
    for (const key of ['a1', 'a2']) {
      const cookie = await cookieOf('ops', { view: 'item', key });
      await run(`update item set n = n || '+' where id = '${key}'`);
      await linesOf(await server.read({ part: { view: 'item', key }, format: 'ops', cookie }));
      const { text } = watched.statements.find(({ kind }) => kind === 'delta')!;
      deltas.add((JSON.parse(text) as { name: string }).name);
      watched.take();
    }
    expect(deltas.size).toBe(1);
  });
});
