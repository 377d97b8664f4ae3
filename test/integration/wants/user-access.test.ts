/** Views with arguments, read by code of the server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { createTables, serve } from './served.js';

let database: TestDatabase;
let sync: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  database = await createTables();
  sync = await serve(database);
});
afterAll(async () => {
  await sync.close();
  await database.drop();
});

it('reads the rows for the arguments, which the validator completes', async () => {
  const as = sync.as({ userID: 'ann' });
  const { rows } = await as.view('issue', { projectID: 'p1' }).rows();
  expect(rows.map(({ id }) => id)).toEqual(['i3', 'i6', 'i9']);
  expect(await as.view('issue', { projectID: 'p1' }).row('i6')).toMatchObject({ title: 'Issue 6' });
  expect(await as.view('issue', { projectID: 'p1' }).row('i1')).toBeUndefined();
  expect((await as.view('numbered', { from: 2 }).rows()).rows).toHaveLength(2);
  expect((await sync.as({ userID: 'bob' }).view('issue', { projectID: 'p1' }).rows()).rows).toEqual([]);
});

it('rejects for arguments that are missing, not valid, or that Postgres cannot read', async () => {
  const as = sync.as({ userID: 'ann' });
  const refused = { code: 'invalid-args', status: 422 };
  // @ts-expect-error The arguments are missing.
  await expect(as.view('issue').rows()).rejects.toMatchObject(refused);
  await expect(as.view('numbered', { from: -1 }).rows()).rejects.toMatchObject({
    ...refused,
    extensions: { issues: [{ path: ['from'], message: expect.any(String) }] },
  });
  await expect(as.view('byKey', { key: 'nothing' }).rows()).rejects.toMatchObject(refused);
});

it('rejects for arguments of a view that has none', async () => {
  const as = sync.as({ userID: 'ann' });
  // @ts-expect-error The view has no arguments.
  await expect(as.view('project', { id: 'p1' }).rows()).rejects.toMatchObject({
    code: 'invalid-args',
    status: 422,
    message: expect.stringContaining('has no arguments'),
  });
});
