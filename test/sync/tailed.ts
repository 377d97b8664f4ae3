/** Views for tests of the tail: what users own, and a table that the auditor alone sees. */
import { defineView } from '../../src/view/define.js';
import { type Context, tableView } from '../synced.js';

export const ddl = `
  create table item (id serial primary key, owner_id text not null);
  create table note (owner_id text primary key);
  create table audit (id serial primary key, entry text not null)`;

const owned = (table: string) =>
  defineView<Context, Record<string, unknown>>({
    query: ({ ctx }) => ({ text: `select * from ${table} where owner_id = $1`, values: [ctx.userID] }),
    key: table === 'item' ? 'id' : 'owner_id',
  });

export const views = {
  item: owned('item'),
  note: owned('note'),
  audit: defineView<Context, Record<string, unknown>>({
    query: (input) =>
      input.ctx.userID === 'auditor'
        ? tableView('audit').query(input)
        : { text: 'select 1 as id from item where false', values: [] },
    key: 'id',
  }),
};
