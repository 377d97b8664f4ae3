/** A row that a view yields several times under one key is one row to the client and to consistency checks. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { linesIn, type PatchResult } from '../../../packages/tidemark/src/pulls/pull-result.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, fullRead, PullServer, SyncClient, tableView } from '../../support/synced.js';

const ddl = `
  create table list (id int primary key, owner text not null);
  create table share (list int not null, usr text not null, primary key (list, usr));
  create table todo (id int primary key, list int not null, text text not null);
  create table note (id int primary key, text text not null)`;

/** Ada sees every row of list 1 for two reasons, of list 2 for one, and of list 3 for none. */
const rows = `
  insert into list values (1, 'ada'), (2, 'ada'), (3, 'bob');
  insert into share values (1, 'ada'), (1, 'cy'), (3, 'cy');
  insert into todo select n, n % 3 + 1, 'todo ' || n from generate_series(1, 12) n`;

/** After all five changes, the data is as it was. */
const changes = [
  `update todo set text = text || '!'`,
  `insert into share values (2, 'ada'); insert into todo values (13, 1, 'new'), (14, 2, 'new')`,
  `delete from share where (list, usr) = (1, 'ada'); update todo set list = 2 where id = 3`,
  `delete from todo where id in (1, 12); update list set owner = 'bob' where id = 1`,
  `delete from list; delete from share; delete from todo; ${rows}`,
];

const views: Record<string, Views<Context>> = {
  'UNION ALL': {
    todo: defineView<{ id: number }>({
      key: 'id',
      query: ({ ctx }) => sql`
        select t.* from todo t where t.list in (select id from list where owner = ${ctx.userID})
        union all
        select t.* from todo t where t.list in (select list from share where usr = ${ctx.userID})`,
    }),
  },
  'a join that multiplies rows': {
    todo: defineView<{ id: number }>({
      key: 'id',
      query: () => sql`select t.* from todo t join share s on s.list = t.list`,
    }),
  },
  'a UNION ALL of outer joins': {
    todo: defineView<{ id: number }>({
      key: 'id',
      query: ({ ctx }) => sql`
        select t.*, l.owner from todo t left join list l on l.id = t.list where l.owner = ${ctx.userID}
        union all
        select t.*, l.owner from todo t left join list l on l.id = t.list
        where t.list in (select list from share where usr = ${ctx.userID})`,
    }),
  },
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createSynced(ddl, {
    ...views['UNION ALL'],
    note: tableView('note', 'id', 'note/'),
  });
});
beforeEach(() => database.pool.query(`truncate list, share, todo, note; ${rows}`));
afterAll(() => database.drop());

describe.each(Object.entries(views))('%s', (_, served) => {
  it('sends a repeated row once, and consistency checks find no differences', async () => {
    const [checked, plain] = [new PullServer(database.url, served, undefined, 1), new PullServer(database.url, served)];
    try {
      const clients = [new SyncClient(checked), new SyncClient(plain)];
      for (const client of clients) {
        const { patch } = await client.pull();
        const keys = patch.flatMap((op) => (op.op === 'put' ? [op.key] : []));
        expect(keys.length).toBeGreaterThan(0);
        expect(keys).toEqual([...new Set(keys)]);
      }
      for (const change of [...changes, ...changes]) {
        await database.pool.query(change);
        const expected = await fullRead(plain);
        for (const client of clients) {
          await client.pull();
          expect(client.held()).toEqual(expected);
        }
      }
      expect(checked.consistencyChecker.state()).toEqual({ comparisons: 2, differences: 0 });
      expect(checked.lines.lines).toEqual([]);
    } finally {
      for (const server of [checked, plain]) await server.close();
    }
  });

  it('returns a repeated row once over REST, in the list and by its key', async () => {
    const server = new PullServer(database.url, served);
    try {
      const all = await rowsOf(server, { view: 'todo' });
      expect(all).toEqual([...new Map(all.map((row) => [row.id, row])).values()]);
      const [row] = all;
      expect(await rowsOf(server, { view: 'todo', key: String(row!.id) })).toEqual([row]);
    } finally {
      await server.close();
    }
  });
});

describe('rows that share a key but differ', () => {
  const differing: Views<Context> = {
    todo: defineView<{ id: number }>({
      key: 'id',
      query: () => sql`select id, text from todo union all select id, text from note`,
    }),
  };

  it('are reported with their key by consistency checks', async () => {
    const server = new PullServer(database.url, differing, undefined, 1);
    try {
      const client = new SyncClient(server);
      await database.pool.query(`insert into note values (7, 'a note')`);
      await client.pull();
      expect(client.rows.get('todo/7')).toEqual({ id: 7, text: 'a note' });
      for (let n = 0; n < 5; n++) {
        await database.pool.query(`update todo set text = 'todo ' || $1 where id = 7`, [n]);
        await client.pull();
      }
      expect(server.lines.lines).toContainEqual(
        expect.objectContaining({
          level: 'error',
          message: 'Rows of a view share a key but differ; the client is reset. Make the key identify a row',
          fields: expect.objectContaining({ view: 'todo', repeated: ['todo/7'] }),
        }),
      );
      expect(client.held()).toEqual(await fullRead(server));
    } finally {
      await server.close();
    }
  });
});

async function rowsOf(server: PullServer, part: { view: string; key?: string }): Promise<{ id: number }[]> {
  const chunks: Uint8Array[] = [];
  for await (const line of linesIn((await server.read({ part, format: 'rows', cookie: null })) as PatchResult))
    chunks.push(line);
  return JSON.parse(`[${Buffer.concat(chunks).toString()}]`) as { id: number }[];
}
