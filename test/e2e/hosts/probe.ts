/**
 * Checks an application that serves Tidemark, with any host and any library that writes its rows: pull, delta, push,
 * pokes, REST, documentation, refusals, and the end of a stream when its client disconnects.
 *
 * The application serves metrics to users (`metrics: 'authenticated'`), takes `Bearer <name>` for a user, and has a
 * view whose rows its mutator creates.
 */
import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import {
  type Address,
  type JSONObject,
  mutation,
  type PullAnswer,
  pull,
  push,
  pushBody,
  send,
} from '../../integration/conformance/wire.js';
import { listenForPokes, type PokeReader } from '../../support/poke-reader.js';

/** The mutator to call, and the rows to expect. */
export interface ProbedApplication {
  readonly view: string;
  /** Creates a row for the calling user. */
  readonly mutator: string;
  readonly argsOf: (id: string, body: string) => JSONObject;
  /** The row with this ID, as clients receive it. */
  readonly rowOf: (id: string, body: string, user: string) => JSONObject;
}

/** The application of the hosts' examples. */
const notes: ProbedApplication = {
  view: 'note',
  mutator: 'note.create',
  argsOf: (id, body) => ({ id, body }),
  rowOf: (id, body) => ({ id, body }),
};

/** The size of a pull that arrives in many parts, in characters. */
const much = 3_000_000;

/**
 * @param url The base URL of Tidemark's paths, without a trailing slash.
 */
export async function probe(url: string, { view, mutator, argsOf, rowOf }: ProbedApplication = notes): Promise<void> {
  const server: Address = { url };
  const user = `user-${randomUUID()}`;
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { headers: { Authorization: `Bearer ${user}`, ...headers } });
  const put = (id: string, body: string) => ({ op: 'put', key: `${view}/${id}`, value: rowOf(id, body, user) });
  const call = async (id: string, body: string) => {
    const path = `/api/mutators/${mutator.replaceAll('.', '/')}`;
    const answer = await send(server, path, argsOf(id, body), { user });
    expect(answer, answer.text).toMatchObject({ status: 200 });
  };

  await refusesAnonymous(server, mutator, argsOf('never', ''));

  const group = { clientGroupID: `group of ${user}` };
  const pulled = (cookie: unknown = null) => pull(server, user, { ...group, cookie });

  const empty = await pulled();
  expect(empty.patch).toEqual([]);
  const before = await openStreams(get);
  const reader = await listen(url, user);
  await reader.poked(1);
  await vi.waitFor(async () => expect(await openStreams(get)).toBe(before + 1), { timeout: 10_000 });

  const pushed = randomUUID();
  const pushAnswer = await push(server, user, [mutation(1, mutator, argsOf(pushed, 'pushed'), user)], group);
  expect(pushAnswer, pushAnswer.text).toMatchObject({ status: 200, body: {} });
  await reader.poked(2);
  const delta = await pulled(empty.cookie);
  expect(delta).toMatchObject({ patch: [put(pushed, 'pushed')], lastMutationIDChanges: { [user]: 1 } });

  const called = randomUUID();
  await call(called, 'called');
  await reader.poked(3);
  const next = await pulled(delta.cookie);
  expect(next).toMatchObject({ patch: [put(called, 'called')], lastMutationIDChanges: {} });
  expect((await pulled(next.cookie)).patch).toEqual([]);

  reader.close();
  await vi.waitFor(async () => expect(await openStreams(get)).toBe(before), { timeout: 10_000 });

  await hasRows(get, view, [rowOf(pushed, 'pushed', user), rowOf(called, 'called', user)]);
  await isDocumented(get, mutator);
  expect((await pull(server, `other-${user}`, { clientGroupID: `group of other ${user}` })).patch).toEqual([]);
  await servesMuch((body) => call(randomUUID(), body), pulled);
}

/** Opens a stream of pokes. */
export function listen(url: string, user = 'ann'): Promise<PokeReader> {
  return listenForPokes((path, init) => fetch(url + path, init), { user });
}

async function refusesAnonymous(server: Address, mutator: string, args: JSONObject): Promise<void> {
  const anonymous = { user: null };
  const answers = [
    await send(server, '/sync/pull', { any: 'body' }, anonymous),
    await send(server, '/sync/push', pushBody([mutation(1, mutator, args)]), anonymous),
    await send(server, `/api/mutators/${mutator.replaceAll('.', '/')}`, args, anonymous),
    await send(server, '/sync/poke?profileID=p&clientGroupID=g', undefined, { ...anonymous, method: 'GET' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
}

type Get = (path: string, headers?: Record<string, string>) => Promise<Response>;

async function openStreams(get: Get): Promise<number> {
  const text = await (await get('/metrics')).text();
  const [, count] = /^tidemark_poke_streams (\d+)$/m.exec(text) ?? [];
  if (count === undefined) throw new Error(`There are no metrics, but:\n${text.slice(0, 500)}`);
  return Number(count);
}

async function hasRows(get: Get, view: string, rows: readonly JSONObject[]): Promise<void> {
  const answer = await get(`/api/views/${view}`);
  expect(answer.status).toBe(200);
  const found = (await answer.json()) as JSONObject[];
  expect(found).toHaveLength(rows.length);
  expect(found).toEqual(expect.arrayContaining([...rows]));
  const again = await get(`/api/views/${view}`, { 'If-None-Match': answer.headers.get('ETag')! });
  expect(again.status).toBe(304);
}

async function isDocumented(get: Get, mutator: string): Promise<void> {
  const document = (await (await get('/api/openapi.json')).json()) as { readonly paths: object };
  expect(Object.keys(document.paths)).toContainEqual(
    expect.stringMatching(`/api/mutators/${mutator.replaceAll('.', '/')}$`),
  );
  const page = await get('/api/docs');
  expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
  const files = [...(await page.text()).matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const answer = await get(`/api/${file}`);
    expect(answer.status, file).toBe(200);
    expect((await answer.text()).length, file).toBeGreaterThan(100);
  }
}

async function servesMuch(create: (body: string) => Promise<void>, read: () => Promise<PullAnswer>): Promise<void> {
  const count = 30;
  const body = 'much '.repeat(much / count / 5);
  for (let i = 0; i < count; i++) await create(body);
  const { patch } = await read();
  const bodies = patch.filter((op) => op.op === 'put' && JSON.stringify(op.value).includes(body));
  expect(bodies).toHaveLength(count);
}
