/** Shared by the tests of consistency checks: views of several kinds, and changes that affect all of them. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, type SyncClient } from '../../support/synced.js';

const ddl = `
  create table list (id int primary key, owner text not null);
  create table share (list int not null, usr text not null, primary key (list, usr));
  create table todo (id int primary key, list int not null, text text not null)`;

const mine = `select l.id from list l where l.owner = $1 or l.id in (select s.list from share s where s.usr = $1)`;

export const views: Views<Context> = {
  todo: {
    query: ({ ctx }) => ({ text: `select t.* from todo t where t.list in (${mine})`, values: [ctx.userID] }),
    key: ['id'],
  },
  alone: {
    query: () => ({
      text: 'select l.id, l.owner from list l where not exists (select from share s where s.list = l.id)',
      values: [],
    }),
    key: ['id'],
    prefix: 'alone/',
  },
  count: {
    query: () => ({ text: 'select list, count(*)::int as n from todo group by list', values: [] }),
    key: ['list'],
  },
  text: {
    query: () => ({ text: 'select text, 1.0 as n from todo union select owner, 1.00 from list', values: [] }),
    key: ['text'],
  },
};

const data = `
  truncate list, share, todo;
  insert into list values (1, 'bob'), (2, 'bob'), (3, 'cy'), (4, 'ada');
  insert into share values (2, 'ada'), (2, 'cy'), (1, 'ada');
  insert into todo select n, n % 4 + 1, 'todo ' || n from generate_series(1, 40) n`;

/** Ada sees a part of each change. */
export const changes = [
  `insert into share values (4, 'ada'); update todo set text = 'changed' where id = 3`,
  `delete from todo where id = 5; insert into todo values (41, 1, 'new'), (42, 3, 'new')`,
  `insert into share values (3, 'bob'); delete from share where (list, usr) = (2, 'cy'); update todo set text = 'x' where id = 3`,
  `delete from share where (list, usr) = (4, 'ada'); delete from todo where list = 2 and id > 20`,
];

export interface CheckedDatabase {
  readonly database: TestDatabase;
  live(client: SyncClient): Promise<void>;
}

/** A database for the tests of a file, with the same rows at the start of each test. */
export function useCheckedDatabase(): CheckedDatabase {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createSynced(ddl, views);
  });
  beforeEach(() => database.pool.query(data));
  afterAll(() => database.drop());
  return {
    get database() {
      return database;
    },
    live: (client) => live(database, client),
  };
}

/**
 * Five deltas, after which the server has checked a sampled client. One change begins before the others and commits
 * after them. A fault that withholds rows from a client does not change the number of deltas.
 */
async function live(database: TestDatabase, client: SyncClient): Promise<void> {
  const writer = new pg.Client(database.url);
  await writer.connect();
  try {
    await client.pull();
    await writer.query(`begin; insert into todo values (50, 1, 'late')`);
    for (const change of changes) {
      await database.pool.query(change);
      await client.pull();
    }
    await writer.query('commit');
    await database.pool.query(`insert into todo values (51, 1, repeat('large ', 100000))`);
    await client.pull();
  } finally {
    await writer.end();
  }
}

export const consistencyCheckOf = ({ cookie }: SyncClient) =>
  (cookie as { consistencyCheck: string | null }).consistencyCheck;
