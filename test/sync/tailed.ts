/** Views for tests of the tail: what users own, and a table that owners do not see. */
import type { Database, Statement } from '../../src/db/database.js';
import { defineView } from '../../src/view/define.js';
import type { Context } from '../synced.js';

export const ddl = `
  create table item (id serial primary key, owner_id text not null);
  create table note (owner_id text primary key);
  create table audit (id serial primary key, entry text not null)`;

const owners = ['ann', 'ben'];

const view = (key: string, text: (userID: string) => string) =>
  defineView<Context, Record<string, unknown>>({
    query: ({ ctx }) => ({ text: text(ctx.userID), values: [ctx.userID] }),
    key,
  });

export const views = {
  item: view('id', () => 'select * from item where owner_id = $1'),
  note: view('owner_id', () => 'select * from note where owner_id = $1'),
  audit: view('id', (userID) =>
    owners.includes(userID)
      ? 'select id, null as entry from item where false and owner_id = $1'
      : 'select * from audit where entry <> $1',
  ),
};

/** A database that says each statement before it is sent; what `before` throws fails the statement. */
export function announced(db: Database, before: (statement: Statement) => Promise<void>): Database {
  return {
    ...db,
    async query<Row>(statement: Statement) {
      await before(statement);
      return db.query<Row>(statement);
    },
  };
}
