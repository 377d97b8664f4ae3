/** When some of a client's views have changed, the others are not sent again. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { sql } from '../../src/sql.js';
import { defineView, type Views } from '../../src/view/define.js';
import type { TestDatabase } from '../database.js';
import { type Context, createSynced, type Op, type PullAnswer, PullServer } from '../synced.js';

interface Item {
  id: number;
  list: number;
  n: number;
}

/** The list that a user may see is what an application would take from the user's context. */
const inList = (list: () => number) =>
  defineView<Item>({ key: 'id', query: () => sql<Item>`select id, list, n from item where list = ${list()}` });
const notes = defineView({ key: 'id', query: () => sql<{ id: number; text: string }>`select id, text from note` });

let list = 1;
const views = { item: inList(() => list), note: notes } satisfies Views<Context>;

let database: TestDatabase;
let opened: PullServer[] = [];

function serve(own: Views<Context>, audit = 0): PullServer {
  const server = new PullServer(database.url, own, undefined, audit);
  opened.push(server);
  return server;
}

beforeAll(async () => {
  database = await createSynced(
    `create table item (id int primary key, list int not null, n int not null);
    create table note (id int primary key, text text not null);
    create table tag (id int primary key)`,
    { ...views, tag: defineView({ key: 'id', query: () => sql<{ id: number }>`select id from tag` }) },
  );
});
beforeEach(async () => {
  list = 1;
  await database.pool.query(`
    truncate item, note, tag;
    insert into item values (1, 1, 0), (2, 1, 0), (3, 2, 0);
    insert into note values (1, 'one'), (2, 'two');
    insert into tag values (1)`);
});
afterEach(async () => {
  await Promise.all(opened.map((server) => server.close()));
  opened = [];
});
afterAll(() => database.drop());

/** What a client holds after it has applied a patch. */
function applied(held: ReadonlyMap<string, unknown>, patch: readonly Op[]): Map<string, unknown> {
  const after = new Map(held);
  for (const op of patch) {
    if (op.op === 'clear') after.clear();
    else if (op.op === 'put') after.set(op.key, op.value);
    else after.delete(op.key);
  }
  return after;
}

const keysIn = (patch: readonly Op[]) => patch.map((op) => (op.op === 'clear' ? 'clear' : `${op.op} ${op.key}`)).sort();

/** Pulls, and checks that the client then holds what a new one would be sent, under a higher order. */
async function follow(server: PullServer, before: PullAnswer): Promise<PullAnswer> {
  const answer = await server.pull(before.cookie);
  const held = applied(applied(new Map(), before.patch), answer.patch);
  expect(held).toEqual(applied(new Map(), (await server.pull(null)).patch));
  const orderOf = ({ cookie }: PullAnswer) => (cookie as { order: number }).order;
  expect(orderOf(answer)).toBeGreaterThan(orderOf(before));
  expect((await server.pull(answer.cookie)).patch).toEqual([]);
  return answer;
}

it('another parameter', async () => {
  const server = serve(views);
  const first = await server.pull(null);
  list = 2;
  const { patch } = await follow(server, first);
  expect(keysIn(patch)).toEqual(['del item/1', 'del item/2', 'put item/3']);
});
