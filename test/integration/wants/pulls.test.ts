/** Pulls that say which instances of views with arguments the client wants. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Sync } from '../../../packages/tidemark/src/index.js';
import type { TestDatabase } from '../../support/database.js';
import { createTables, project, serve, WantingClient } from './served.js';

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

it('a client has the rows of the instances that it wants, and of views without arguments', async () => {
  const client = new WantingClient(sync, 'first');
  await client.pull([project('p1')]);
  expect(client.keys('issue')).toEqual(['i3', 'i6', 'i9']);
  expect(client.keys('project')).toEqual(['p1', 'p2', 'p3']);
  await client.pull([project('p2')]);
  expect(client.keys('issue')).toEqual(['i1', 'i4', 'i7']);
  await client.pull([project('p2'), project('p1')]);
  expect(client.keys('issue')).toEqual(['i1', 'i3', 'i4', 'i6', 'i7', 'i9']);
  await client.pull([]);
  expect(client.keys('issue')).toEqual([]);
  expect(client.keys('project')).toEqual(['p1', 'p2', 'p3']);
});

it('a request without wants has no instances, and its cookie is as short as before', async () => {
  const client = new WantingClient(sync, 'plain');
  const { patch, cookie } = await client.pull();
  expect(patch.map((op) => op.op === 'put' && op.key)).toEqual(['project/p1', 'project/p2', 'project/p3']);
  expect(JSON.stringify(cookie).length).toBeLessThan(600);
});

it('arguments grant no access: permissions are part of the query', async () => {
  const client = new WantingClient(sync, 'foreign');
  await client.pull([project('p3')]);
  expect(client.keys('issue')).toEqual([]);
  const other = new WantingClient(sync, 'of bob');
  await other.pull([project('p1')], {}, 'bob');
  expect(other.keys('issue')).toEqual([]);
});

it('the same wants in another order, or given twice, are the same', async () => {
  const client = new WantingClient(sync, 'order');
  const { cookie } = await client.pull([project('p1'), project('p2')]);
  const again = await client.pull([project('p2'), project('p1'), project('p2')]);
  expect(again).toMatchObject({ cookie, patch: [] });
});

it('a row that leaves one instance and enters another is one put', async () => {
  const client = new WantingClient(sync, 'moved');
  await client.pull([project('p1')]);
  await database.pool.query(`update issue set project_id = 'p2' where id = 'i3'`);
  const { patch } = await client.pull([project('p2')]);
  expect(patch.filter((op) => op.op !== 'clear' && op.key === 'issue/i3')).toEqual([
    { op: 'put', key: 'issue/i3', value: { id: 'i3', project_id: 'p2', title: 'Issue 3' } },
  ]);
  await database.pool.query(`update issue set project_id = 'p1' where id = 'i3'`);
  await client.pull([project('p1'), project('p2')]);
  await database.pool.query(`update issue set project_id = 'p2' where id = 'i3'`);
  expect((await client.pull([project('p1'), project('p2')])).patch).toEqual([
    { op: 'put', key: 'issue/i3', value: { id: 'i3', project_id: 'p2', title: 'Issue 3' } },
  ]);
  await database.pool.query(`update issue set project_id = 'p1' where id = 'i3'`);
});

it('a row stays as long as one of several overlapping instances has it', async () => {
  const client = new WantingClient(sync, 'overlapping');
  const slice = (from: number, to: number) => ({ view: 'numbered', args: { from, to } });
  await client.pull([slice(1, 4), slice(3, 6)]);
  expect(client.keys('numbered')).toEqual(['n1', 'n2', 'n3', 'n4', 'n5', 'n6']);
  expect((await client.pull([slice(3, 6)])).patch).toEqual([
    { op: 'del', key: 'numbered/n1' },
    { op: 'del', key: 'numbered/n2' },
  ]);
  await client.pull([slice(3, 6), slice(5, 5)]);
  await client.pull([slice(5, 5)]);
  expect(client.keys('numbered')).toEqual(['n5']);
});

it('a want that cannot be served is refused, and all others are served', async () => {
  const client = new WantingClient(sync, 'refused');
  const { refusedWants } = await client.pull([
    project('p1'),
    { view: 'issue', args: { projectID: 7 } },
    { view: 'nothing', args: {} },
    { view: 'project', args: {} },
    { view: 'issue', args: { projectID: 'a\0b' } },
    { view: 'byKey', args: { key: 'no UUID' } },
    { view: 'byKey', args: { key: '00000000-0000-0000-0000-000000000001' } },
    { view: 'worded', args: { name: 'Project 2' } },
    { view: 'worded', args: { name: 'any' } },
  ]);
  expect(refusedWants).toEqual([
    { view: 'issue', args: { projectID: 7 }, code: 'invalid-args', message: expect.stringMatching(/^projectID: /) },
    { view: 'nothing', args: {}, code: 'unknown-view', message: expect.any(String) },
    { view: 'project', args: {}, code: 'unknown-view', message: expect.any(String) },
    { view: 'issue', args: { projectID: 'a\0b' }, code: 'invalid-args', message: expect.any(String) },
    { view: 'byKey', args: { key: 'no UUID' }, code: 'invalid-args', message: expect.stringContaining('Postgres') },
    { view: 'worded', args: { name: 'any' }, code: 'invalid-args', message: expect.stringContaining('another text') },
  ]);
  expect(client.keys('worded')).toEqual(['p2']);
  expect(client.keys('issue')).toEqual(['i3', 'i6', 'i9']);
  expect(client.keys('byKey')).toEqual(['00000000-0000-0000-0000-000000000001']);
  const again = await client.pull([project('p1'), { view: 'nothing', args: {} }]);
  expect(again.refusedWants).toMatchObject([{ code: 'unknown-view' }]);
});

it('a client can want as many instances as the limit says', async () => {
  const limited = await serve(database, { limits: { wants: 2 } });
  const client = new WantingClient(limited, 'limited');
  const { refusedWants } = await client.pull([project('p1'), project('p2'), project('p3')]);
  expect(refusedWants).toEqual([{ ...project('p3'), code: 'too-many-wants', message: expect.stringContaining('2') }]);
  expect(client.keys('issue')).toEqual(['i1', 'i3', 'i4', 'i6', 'i7', 'i9']);
  await limited.close();
});

it.each([
  [{ wants: {} }, 'wants must be an array'],
  [{ wants: [1] }, 'wants[0] must be a JSON object'],
  [{ wants: [{ args: {} }] }, 'wants[0].view must be'],
  [{ wants: [{ view: 'issue', args: [] }] }, 'wants[0].args must be'],
  [{ stages: 'yes' }, 'stages must be true or false'],
])('the request %o is malformed', async (extra, detail) => {
  await expect(new WantingClient(sync).pull(undefined, extra)).rejects.toThrow(detail);
});

it('a first sync comes in stages if the client asks for it', async () => {
  const client = new WantingClient(sync, 'staged');
  const wants = [project('p1'), { view: 'numbered', args: { from: 1 } }];
  const first = await client.pull(wants, { stages: true });
  expect(first.laterViews).toEqual(['issue', 'numbered']);
  expect([client.keys('project').length, client.keys('issue').length]).toEqual([3, 0]);
  const second = await client.pull(wants, { stages: true });
  expect(second.laterViews).toEqual(['numbered']);
  expect(client.keys('issue')).toEqual(['i3', 'i6', 'i9']);
  const third = await client.pull(wants, { stages: true });
  expect(third.laterViews).toBeUndefined();
  expect(client.keys('numbered')).toEqual(['n1', 'n2', 'n3']);
  expect((await client.pull(wants, { stages: true })).patch).toEqual([]);
  // What it has already is not a later stage.
  const more = await client.pull([...wants, project('p2')], { stages: true });
  expect(more.laterViews).toBeUndefined();
  const whole = await new WantingClient(sync, 'not staged').pull(wants);
  expect(whole.laterViews).toBeUndefined();
});

it('a cookie holds 200 instances, and any server continues from it', async () => {
  const other = await serve(database);
  const client = new WantingClient(sync, 'many');
  const keys = Array.from({ length: 199 }, (_, i) => `00000000-0000-4000-8000-${String(i * 7919).padStart(12, '0')}`);
  const wants = [...keys.map((key) => ({ view: 'byKey', args: { key } })), project('p1')];
  await client.pull(wants);
  expect(JSON.stringify(client.cookie).length).toBeLessThan(6_000);
  const continued = new WantingClient(other, 'many');
  continued.cookie = client.cookie;
  expect((await continued.pull(wants)).patch).toEqual([]);
  await database.pool.query(`insert into keyed values ('${keys[5]}')`);
  expect((await continued.pull(wants)).patch).toEqual([{ op: 'put', key: `byKey/${keys[5]}`, value: { id: keys[5] } }]);
  await other.close();
});
