/**
 * A view that is followed in every possible way while several writers change it: by a Replicache client, by polling for
 * ops and for rows, by a stream, by the documentation's shell script, and by a client typed after the OpenAPI document.
 * Everything that any of them shows, at any moment, is the view's state after one of the transactions.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { connectPokes } from '../../../packages/client/src/poke.js';
import { blocksOf } from '../../docs/compile.js';
import { Random } from '../../stress/oracle/random.js';
import { openClient } from '../conformance/client/client.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { applied, EventReader, type Ops } from './viewed.js';

const transactions = 300;
const seed = Number(process.env.SEED ?? Date.now() % 100_000);
const views = `select id from list where owner_id = 'ann' union all select list_id from share where user_id = 'ann'`;

type State = Readonly<Record<string, unknown>>;

interface Client {
  followTodos(baseUrl: string, token: string): AsyncGenerator<ReadonlyMap<string, unknown>>;
  nameOfList(baseUrl: string, token: string, key: string): Promise<string | undefined>;
}

let server: TestServer;
let folder: string;
/** The todos that Ann sees after each transaction, by its number. */
const truth = new Map<number, State>();
/** The numbers of the states that each follower has shown. */
const seen = new Map<string, Set<number>>();
const wrong: unknown[] = [];

beforeAll(async () => {
  server = await startServer();
  folder = await mkdtemp(join(tmpdir(), 'tidemark-follow-'));
  await server.pool.query(`
    insert into list (id, owner_id, name) values ('own', 'ann', 'Own'), ('shared', 'ben', 'Shared'), ('other', 'ben', 'Other');
    insert into todo (id, list_id, title, sort)
      values ('counter', 'own', '0', 0), ('canary', 'other', 'canary', 0), ('s', 'shared', 's', 1)`);
});
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Each transaction first locks the counter, so those of several connections run one after another. */
async function write(random: Random): Promise<void> {
  const client = await server.pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ n: number }>(
      `update todo set title = (title::int + 1)::text where id = 'counter' returning title::int as n`,
    );
    for (let i = random.between(0, 3); i >= 0; i--) await client.query(change(random));
    const { rows: states } = await client.query<{ state: State }>(
      `select json_object_agg('todo/' || id, json_build_object(
         'id', id, 'listID', list_id, 'title', title, 'done', done, 'sort', sort)) as state
       from todo where list_id in (${views})`,
    );
    truth.set(rows[0]!.n, states[0]!.state);
    await client.query('commit');
  } finally {
    client.release();
  }
}

function change(random: Random): string {
  const id = `t${random.between(0, 39)}`;
  const list = ['own', 'own', 'shared', 'other'][random.between(0, 3)]!;
  const title = ['plain', 'größe\n"2"', '\\', ',{"op":"clear"}', 'a\r\nb', '👩‍👩‍👧', ''][random.between(0, 6)]!;
  switch (random.between(0, 7)) {
    case 0:
      return `delete from todo where id = '${id}'`;
    case 1:
      return `delete from share where list_id = 'shared' and user_id = 'ann'`;
    case 2:
      return `insert into share values ('shared', 'ann') on conflict do nothing`;
    case 3:
      return `update todo set done = not done where id <> 'counter'`;
    case 4:
      return `insert into todo (id, list_id, title, sort)
        select 'many' || i, '${list}', 'many', i from generate_series(1, ${random.between(0, 249)}) i
        on conflict (id) do update set sort = excluded.sort + 1, list_id = excluded.list_id`;
    default:
      return `insert into todo (id, list_id, title, sort) values ('${id}', '${list}', '${title}', ${random.between(0, 8)})
        on conflict (id) do update set list_id = excluded.list_id, title = excluded.title`;
  }
}

/** Checks and records the state that a follower shows. */
function show(name: string, state: State): void {
  const n = Number((state['todo/counter'] as { title: string }).title);
  const shown = seen.get(name) ?? new Set();
  seen.set(name, shown.add(n));
  try {
    expect(state).toEqual(truth.get(n));
  } catch (error) {
    wrong.push({ name, n, error: String(error).slice(0, 2_000) });
  }
}

const url = () => `${server.url}/api/views/todo`;
const headers = { Authorization: 'Bearer ann' };
const byKey = (rows: readonly { readonly id: string }[]) =>
  Object.fromEntries(rows.map((row) => [`todo/${row.id}`, row]));

/** Each follows the view until it is aborted. */
const followers: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
  async replicache(signal) {
    const { rep, errors } = openClient(server, 'ann', { pullInterval: null });
    const stop = connectPokes(rep, { url: `${server.url}/sync/poke` });
    const unwatch = rep.subscribe(
      async (tx) => Object.fromEntries(await tx.scan({ prefix: 'todo/' }).entries().toArray()) as State,
      (state) => {
        if ('todo/counter' in state) show('replicache', state);
      },
    );
    await aborted(signal);
    unwatch();
    stop();
    await rep.close();
    expect(errors).toEqual([]);
  },

  async ops(signal) {
    let rows: ReadonlyMap<string, unknown> = new Map();
    for (let since = ''; !signal.aborted; ) {
      const response = await fetch(`${url()}?since=${since}`, { headers: { ...headers, Prefer: 'wait=30' }, signal });
      const { cookie, patch } = (await response.json()) as Ops;
      rows = applied(rows, patch);
      show('ops', Object.fromEntries(rows));
      since = cookie;
    }
  },

  async rows(signal) {
    for (let tag = '""'; !signal.aborted; ) {
      const response = await fetch(url(), { headers: { ...headers, 'If-None-Match': tag }, signal });
      tag = response.headers.get('ETag')!;
      if (response.status === 200) show('rows', byKey((await response.json()) as { id: string }[]));
      else expect(response.status).toBe(304);
    }
  },

  async lines(signal) {
    for (let tag = '""'; !signal.aborted; ) {
      const Accept = 'application/x-ndjson';
      const response = await fetch(url(), {
        headers: { ...headers, Accept, Prefer: 'wait=5', 'If-None-Match': tag },
        signal,
      });
      tag = response.headers.get('ETag')!;
      const lines = (await response.text()).split('\n').filter((line) => line !== '');
      if (response.status === 200) show('lines', byKey(lines.map((line) => JSON.parse(line) as { id: string })));
    }
  },

  async stream(signal) {
    let rows: ReadonlyMap<string, unknown> = new Map();
    for (let id = ''; !signal.aborted; ) {
      const response = await fetch(url(), {
        headers: { ...headers, Accept: 'text/event-stream', 'Last-Event-ID': id },
        signal,
      });
      const reader = new EventReader(response);
      // From time to time, it restarts where it was.
      for (let events = 0; events < 20; events++) {
        const event = await reader.next();
        if (!event) break;
        rows = applied(rows, JSON.parse(event.data) as Ops['patch']);
        id = event.id;
        show('stream', Object.fromEntries(rows));
      }
      await reader.cancel();
    }
  },

  async script(signal) {
    const [script] = blocksOf('docs/rest.md', 'sh').filter((block) => block.startsWith('#!/bin/sh'));
    await writeFile(join(folder, 'follow.sh'), script!);
    const child = spawn('sh', ['follow.sh', url(), 'ann'], { cwd: folder, detached: true });
    signal.addEventListener('abort', () => process.kill(-child.pid!));
    for await (const line of createInterface(child.stdout)) {
      expect(line).toBe('changed');
      show('script', byKey(JSON.parse(await readFile(join(folder, 'rows.json'), 'utf8')) as { id: string }[]));
    }
  },

  async generated(signal) {
    const path = new URL('../../typed-client/client.ts', import.meta.url).href;
    const { followTodos, nameOfList } = (await import(/* @vite-ignore */ path)) as Client;
    expect(await nameOfList(server.url, 'ann', 'own')).toBe('Own');
    expect(await nameOfList(server.url, 'ann', 'other')).toBeUndefined();
    const following = followTodos(server.url, 'ann');
    signal.addEventListener('abort', () => void following.return(undefined));
    for await (const todos of following) {
      show('generated', Object.fromEntries(todos));
      if (signal.aborted) return;
    }
  },
};

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

it(`a view shows the states that Replicache clients show, however it is followed (seed ${seed})`, async () => {
  const random = new Random(seed);
  const abort = new AbortController();
  await write(random);
  const following = Object.entries(followers).map(([name, follow]) =>
    follow(abort.signal).catch((error: unknown) => {
      if (!abort.signal.aborted) wrong.push({ name, error: String(error) });
    }),
  );
  await vi.waitFor(() => expect([...seen.keys()].toSorted()).toEqual(Object.keys(followers).toSorted()), 20_000);
  const each = Math.ceil(transactions / 3);
  const writers = [1, 2, 3].map(async () => {
    for (let i = 0; i < each; i++) await write(random);
  });
  await Promise.all(writers);
  const last = Math.max(...truth.keys());
  await vi.waitFor(() => {
    expect(wrong).toEqual([]);
    expect(Object.keys(followers).filter((name) => !seen.get(name)!.has(last))).toEqual([]);
  }, 30_000);
  // One more change ends the waiting requests.
  abort.abort();
  await write(random);
  await Promise.all(following);
  expect(wrong).toEqual([]);
  for (const [name, shown] of seen) expect([name, shown.size]).toEqual([name, expect.toSatisfy((size) => size > 10)]);
}, 400_000);
