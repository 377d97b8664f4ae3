/** Arguments of views in query strings. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Sync } from '../../../packages/tidemark/src/index.js';
import type { TestDatabase } from '../../support/database.js';
import { createTables, serve } from '../wants/served.js';

let database: TestDatabase;
let sync: Sync<{ userID: string }>;
beforeAll(async () => {
  database = await createTables();
  sync = await serve(database);
});
afterAll(async () => {
  await sync.close();
  await database.drop();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  sync.fetch(new Request(`http://localhost/api/${path}`, { headers: { Authorization: 'ann', ...headers } }));

const idsOf = async (response: Response) => ((await response.json()) as { id: string }[]).map(({ id }) => id);

it('a view is read for the arguments in the query string', async () => {
  expect(await idsOf(await get('views/issue?projectID=p1'))).toEqual(['i3', 'i6', 'i9']);
  expect(await idsOf(await get('views/issue?projectID=p3'))).toEqual([]);
  expect(await (await get('views/issue/i3?projectID=p1')).json()).toEqual({
    id: 'i3',
    project_id: 'p1',
    title: 'Issue 3',
  });
  expect((await get('views/issue/i1?projectID=p1')).status).toBe(404);
});

it.each([
  ['from=1', ['n1', 'n2', 'n3']],
  ['from=2&to=5', ['n2', 'n3', 'n4', 'n5']],
  ['from=1&to=9&tags=odd', ['n1', 'n3', 'n5', 'n7', 'n9']],
  ['from=1&tags=odd&tags=even', ['n1', 'n2', 'n3']],
])('the parameters %s have the types of the validator', async (query, expected) => {
  expect(await idsOf(await get(`views/numbered?${query}`))).toEqual(expected);
});

it.each([
  ['', ['from']],
  ['from=one', ['from']],
  ['from=-1', ['from']],
  ['from=1&to=', ['to']],
  ['from=1&from=2', ['from']],
])('the parameters "%s" are refused, by name', async (query, names) => {
  const response = await get(`views/numbered?${query}`);
  expect(response.status).toBe(422);
  const problem = (await response.json()) as { code: string; issues: { path: string[] }[] };
  expect(problem.code).toBe('invalid-args');
  expect(problem.issues.map(({ path }) => path[0])).toEqual(names);
});

it('other parameters are ignored, or refused by name with strict handling', async () => {
  const strict = { Prefer: 'handling=strict' };
  const named = async (path: string) => {
    const response = await get(path, strict);
    const { issues = [] } = (await response.json()) as { issues?: { path: string[] }[] };
    return [response.status, ...issues.map(({ path }) => path.join('.'))];
  };
  expect((await get('views/numbered?from=1&until=5')).status).toBe(200);
  expect(await named('views/numbered?from=1&until=5&by=n')).toEqual([422, 'until', 'by']);
  expect(await named('views/numbered?from=1&schemaVersion=')).toEqual([200]);
  expect((await get('views/project?id=p1')).status).toBe(200);
  expect(await named('views/project?id=p1')).toEqual([422, 'id']);
});

it('arguments that Postgres cannot read are refused', async () => {
  const response = await get('views/byKey?key=nothing');
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ code: 'invalid-args' });
});

it('each instance has its own entity tag, deltas and events', async () => {
  const first = await get('views/issue?projectID=p1');
  const tag = first.headers.get('ETag')!;
  expect((await get('views/issue?projectID=p1', { 'If-None-Match': tag })).status).toBe(304);
  expect(await idsOf(await get('views/issue?projectID=p2', { 'If-None-Match': tag }))).toEqual(['i1', 'i4', 'i7']);
  await database.pool.query(`update issue set title = 'Changed' where id in ('i3', 'i1')`);
  const since = tag.replaceAll('"', '');
  const delta = (await (await get(`views/issue?projectID=p1&since=${since}`)).json()) as { patch: { key: string }[] };
  expect(delta.patch.map(({ key }) => key)).toEqual(['issue/i3']);
  const events = await get('views/issue?projectID=p2', { Accept: 'text/event-stream' });
  const reader = events.body!.getReader();
  let text = '';
  while (!text.includes('issue/i7')) text += new TextDecoder().decode((await reader.read()).value);
  expect(text).not.toContain('issue/i3');
  await reader.cancel();
});

it('the OpenAPI document has the arguments as parameters', async () => {
  const document = (await (await get('openapi.json')).json()) as {
    paths: Record<string, { get: { parameters: { name?: string; required?: true }[]; responses: object } }>;
    components: { schemas: Record<string, unknown> };
  };
  const operation = document.paths['/api/views/numbered']!.get;
  expect(operation.parameters.slice(0, 3)).toEqual([
    expect.objectContaining({ name: 'from', in: 'query', required: true }),
    expect.objectContaining({ name: 'to', in: 'query' }),
    expect.objectContaining({ name: 'tags', in: 'query' }),
  ]);
  expect(operation.responses).toHaveProperty('422');
  expect(document.components.schemas.NumberedArgs).toMatchObject({
    properties: { from: { type: 'integer', minimum: 0 } },
  });
  expect(document.paths['/api/views/byKey']!.get.parameters[0]).toMatchObject({
    name: 'key',
    example: '00000000-0000-0000-0000-000000000000',
  });
});
