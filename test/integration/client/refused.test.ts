import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import type { Refusal } from '../../../src/client.js';
import { type TasksClient, useApplication } from './application.js';
import { bodiesSentTo } from './sent.js';

const application = useApplication();
const isTaken = 'A list with this ID already exists';

/** Has the server refuse a mutation. */
const refuse = (tab: TasksClient) => tab.mutate.list.create({ id: 'taken', name: 'Of an ID that is taken' });

it('a refusal is told once, by those who are open, and is listed as long as the server tells of it', async () => {
  const user = randomUUID();
  const ann = application.client({ user });
  await refuse(ann);
  await expect.poll(() => ann.view('list').get('taken')).toBeDefined();
  await expect.poll(() => ann.pending.get()).toEqual([]);
  const told = vi.fn();
  const stop = ann.onRefused(told);
  expect(ann.refused.get()).toEqual([]);
  await refuse(ann);
  const refusal = {
    clientID: ann.clientID,
    mutationID: 2,
    name: 'list.create',
    code: 'mutator-error',
    detail: isTaken,
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  };
  await expect.poll(() => ann.refused.get()).toEqual([refusal]);
  expect(told.mock.calls).toEqual([[refusal]]);
  expect(ann.refused.get()).toBe(ann.refused.get());
  stop();
  await refuse(ann);
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
  await application.server.pool.query('delete from tidemark.refusal where mutation_id = 2');
  await expect.poll(() => tab.refused.get()).toMatchObject([{ mutationID: 3 }]);
});

it('a refusal is told in the other tabs of the user, too', async () => {
  const user = randomUUID();
  const [ann, tab] = [application.client({ user }), application.client({ user })];
  await refuse(ann);
  for (const { view } of [ann, tab]) await expect.poll(() => view('list').get('taken')).toBeDefined();
  const told = vi.fn();
  tab.onRefused(told);
  await refuse(ann);
  await expect
    .poll(() => told.mock.calls)
    .toEqual([[expect.objectContaining({ clientID: ann.clientID, mutationID: 2, name: 'list.create' })]]);
});

it('a client asks for refusals in each pull', async () => {
  const fetching = vi.spyOn(globalThis, 'fetch');
  const ann = application.client();
  await expect.poll(() => ann.status.get().state).toBe('online');
  const bodies = bodiesSentTo('pull', fetching);
  fetching.mockRestore();
  expect(JSON.parse(bodies[0]!)).toMatchObject({ refused: true, pullVersion: 1 });
});

it('a refusal that is dismissed disappears in all tabs, offline too, and on the server', async () => {
  await application.server.pool.query('delete from tidemark.refusal');
  const user = randomUUID();
  const [ann, tab] = [application.client({ user }), application.client({ user })];
  for (let i = 0; i < 3; i++) await refuse(ann);
  for (const { refused } of [ann, tab]) await expect.poll(() => refused.get()).toHaveLength(2);
  const [first, second] = ann.refused.get() as [Refusal, Refusal];
  await ann.dismiss(first);
  for (const { refused } of [ann, tab]) await expect.poll(() => refused.get()).toEqual([second]);
  const kept = 'select mutation_id::int as "mutationID" from tidemark.refusal order by mutation_id';
  const refusals = async () => (await application.server.pool.query(kept)).rows;
  await expect.poll(refusals).toEqual([{ mutationID: second.mutationID }]);

  tab.setOnline(false);
  await tab.dismiss(second);
  expect(tab.refused.get()).toEqual([]);
  expect(ann.refused.get()).toEqual([second]);
  tab.setOnline(true);
  await expect.poll(() => ann.refused.get()).toEqual([]);
  await expect.poll(refusals).toEqual([]);
  await ann.dismiss(second);
  await expect.poll(() => ann.pending.get()).toEqual([]);
  expect(ann.refused.get()).toEqual([]);
});
