/** The DDL in docs/operations/who-is-reset.md. Each statement runs on a live server, and resends the listed views. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { defineView, type Views } from '../../packages/tidemark/src/view/define.js';
import { useAltered } from '../integration/pulls/altered.js';
import { type Context, type Op, PullServer, SyncClient } from '../support/synced.js';

const altered = useAltered();

const page = await readFile(new URL('../../docs/operations/who-is-reset.md', import.meta.url), 'utf8');
const section = page.replaceAll(/\s+/g, ' ');
const queries = [...section.matchAll(/`(\w+)` \(`(select [^`]+)`\)/g)].map(
  ([, name, query]) => [name!, query!] as const,
);
const rows = [...section.matchAll(/\| `([^`]+)`( \(if `task` is partitioned\))? \| ([^|]+) \| ([^|]+) \|/g)].map(
  ([, statement, partitioned, views, what]) => ({
    statement: statement!,
    isPartitioned: partitioned !== undefined,
    reset: namesIn(views!),
    again: what!.trim() === 'everything (reset)' ? 'everything' : namesIn(what!),
  }),
);

function namesIn(text: string): string[] {
  return [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name!).sort();
}

const columns = `id int primary key, list int, title text, note text, mood mood default 'sad', owner int,
  keeper int constraint kept references person on update cascade on delete set null`;
const types = `create type mood as enum ('glad', 'sad'); create table person (id int primary key)`;
const data = `insert into task (id, list, title) values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c')`;
const plain = `${types}; create table task (${columns}); ${data}`;
const partitioned = `${types}; create table task (${columns}) partition by range (id);
  create table task_1 partition of task for values from (0) to (100); ${data}`;

it('docs/operations/who-is-reset.md has all rows and views', () => {
  expect(queries.map(([name]) => name)).toEqual(['short', 'all', 'count']);
  expect(rows.length).toBeGreaterThanOrEqual(13);
});

/** A view that only its own client sees. */
function viewOf(name: string, text: string): Views<Context> {
  const key = name === 'count' ? 'list' : 'id';
  return { [name]: defineView<Record<string, unknown>>({ key, query: () => ({ text, values: [] }) }) };
}

/** The views whose rows a client receives. */
function sentIn(patch: readonly Op[]): string[] | 'everything' {
  if (patch[0]?.op === 'clear') return 'everything';
  return [...new Set(patch.map((op) => (op as { key: string }).key.split('/')[0]!))].sort();
}

it.each(rows)('$statement resets the listed views', async ({ statement, isPartitioned, reset, again }) => {
  const all = queries.map(([name, text]) => [name, viewOf(name, text)] as const);
  const views: Views<Context> = Object.assign({}, ...all.map(([, view]) => view));
  const {
    run,
    url,
    passASecond,
    client: several,
  } = await altered.start(isPartitioned ? partitioned : plain, { views });
  const servers = all.map(([name, view]) => [name, new PullServer(url, view)] as const);
  const clients = servers.map(([name, server]) => [name, new SyncClient(server)] as const);
  try {
    for (const [, client] of clients) await client.pull();
    await run(statement);
    passASecond();
    const found: string[] = [];
    for (const [name, client] of clients) if ((await client.pull()).patch[0]?.op === 'clear') found.push(name);
    expect(found.sort()).toEqual(reset);
    expect(sentIn((await several.pull()).patch)).toEqual(again);
    // Afterwards, all clients receive changes again.
    await run(`insert into task (id, list, title) values (4, 2, 'd')`);
    for (const [, client] of clients) expect((await client.pull()).patch.map(({ op }) => op)).toEqual(['put']);
    expect((await several.pull()).patch.map(({ op }) => op)).toEqual(['put', 'put', 'put']);
  } finally {
    for (const [, server] of servers) await server.close();
  }
});
