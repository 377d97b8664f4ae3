import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { views } from '../../examples/tasks/src/views.js';
import { defineView, sql } from '../../src/index.js';
import { type TasksClient, useApplication } from './application.js';

/** Rows as the server sends them for mutations that it has refused. */
const refused = defineView({
  query: ({ ctx }) => sql<Record<string, unknown>>`
    select client_id as "clientID", mutation_id as "mutationID", name, code, detail, at from refusal
    where ${ctx.userID} = 'ann'`,
  key: ['clientID', 'mutationID'],
  prefix: 'tidemark/refused/',
});
const setup = `create table refusal
  (client_id text, mutation_id int, name text, code text, detail text, at text, primary key (client_id, mutation_id))`;
const application = useApplication({ views: { ...views, refused }, setup });

const refuse = (clientID: string, mutationID: number) =>
  application.server.pool.query(
    "insert into refusal values ($1, $2, 'list.create', 'mutator-error', 'It is full', 'now')",
    [clientID, mutationID],
  );

it('a refusal is told once, by those who are open, and is listed as long as the server tells of it', async () => {
  const user = randomUUID();
  const ann = application.client({ user });
  await expect.poll(() => ann.status.get().state).toBe('online');
  const told = vi.fn();
  const stop = ann.onRefused(told);
  expect(ann.refused.get()).toEqual([]);
  await refuse(ann.clientID, 1);
  const refusal = {
    clientID: ann.clientID,
    mutationID: 1,
    name: 'list.create',
    code: 'mutator-error',
    detail: 'It is full',
    at: 'now',
  };
  await expect.poll(() => ann.refused.get()).toEqual([refusal]);
  expect(told.mock.calls).toEqual([[refusal]]);
  expect(ann.refused.get()).toBe(ann.refused.get());
  stop();
  await refuse(ann.clientID, 2);
  await expect.poll(() => ann.refused.get()).toHaveLength(2);
  expect(told).toHaveBeenCalledTimes(1);

  // What a new tab finds here is listed, and not told.
  const toldAgain = vi.fn();
  const listed = async (tab: TasksClient) => {
    toldAgain.mockClear();
    tab.onRefused(toldAgain);
    // Called after the list of refusals has been read.
    await new Promise((resolve) => tab.view('list').subscribe(resolve));
    return tab.refused.get().length;
  };
  await expect.poll(() => application.stored({ user }, listed)).toBe(2);
  expect(toldAgain).not.toHaveBeenCalled();
  const tab = application.client({ user });
  await expect.poll(() => tab.refused.get()).toHaveLength(2);
  await application.server.pool.query('delete from refusal where mutation_id = 1');
  await expect.poll(() => tab.refused.get()).toMatchObject([{ mutationID: 2 }]);
});

it('a client asks for refusals in each pull', async () => {
  const fetching = vi.spyOn(globalThis, 'fetch');
  const ann = application.client();
  await expect.poll(() => ann.status.get().state).toBe('online');
  const bodies = fetching.mock.calls.flatMap(([url, init]) => (String(url).endsWith('pull') ? [init!.body] : []));
  fetching.mockRestore();
  expect(JSON.parse(String(bodies[0]))).toMatchObject({ refused: true, pullVersion: 1 });
});
