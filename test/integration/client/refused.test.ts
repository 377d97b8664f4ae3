import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import type { Refusal } from '../../../packages/client/src/index.js';
import { type TasksClient, useApplication } from './application.js';
import { bodiesSentTo } from './sent.js';

const application = useApplication();
const isTaken = 'A list with this ID already exists';

/** Makes the server refuse a mutation. */
const refuse = (tab: TasksClient) => tab.mutate.list.create({ id: 'taken', name: 'Of an ID that is taken' });

it('a refusal is reported once, in open tabs, and is listed as long as the server keeps it', async () => {
  const user = randomUUID();
  const ann = application.client({ user });
  await refuse(ann);
  await expect.poll(() => ann.view('list').get('taken')).toBeDefined();
  await expect.poll(() => ann.pending.get()).toEqual([]);
  const listener = vi.fn();
  const stop = ann.onRefused(listener);
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
  expect(listener.mock.calls).toEqual([[refusal]]);
  expect(ann.refused.get()).toBe(ann.refused.get());
  stop();
  await refuse(ann);
  await expect.poll(() => ann.refused.get()).toHaveLength(2);
  expect(listener).toHaveBeenCalledTimes(1);

  // A new tab lists the refusals that it finds here, but does not report them.
  const newTabListener = vi.fn();
  const listed = async (tab: TasksClient) => {
    newTabListener.mockClear();
    tab.onRefused(newTabListener);
    // Runs after the client has read the list of refusals.
    await new Promise((resolve) => tab.view('list').subscribe(resolve));
    return tab.refused.get().length;
  };
  await expect.poll(() => application.stored({ user }, listed)).toBe(2);
  expect(newTabListener).not.toHaveBeenCalled();
  const tab = application.client({ user });
  await expect.poll(() => tab.refused.get()).toHaveLength(2);
  await application.server.pool.query('delete from tidemark.refusal where mutation_id = 2');
  await expect.poll(() => tab.refused.get()).toMatchObject([{ mutationID: 3 }]);
});

it('a refusal is also reported in the other tabs of the user', async () => {
  const user = randomUUID();
  const [ann, tab] = [application.client({ user }), application.client({ user })];
  await refuse(ann);
  for (const { view } of [ann, tab]) await expect.poll(() => view('list').get('taken')).toBeDefined();
  const listener = vi.fn();
  tab.onRefused(listener);
  await refuse(ann);
  await expect
    .poll(() => listener.mock.calls)
    .toEqual([[expect.objectContaining({ clientID: ann.clientID, mutationID: 2, name: 'list.create' })]]);
});

it('a client requests refusals when it pulls', async () => {
  const fetching = vi.spyOn(globalThis, 'fetch');
  const ann = application.client();
  await expect.poll(() => ann.status.get().state).toBe('online');
  const bodies = bodiesSentTo('pull', fetching);
  fetching.mockRestore();
  expect(JSON.parse(bodies[0]!)).toMatchObject({ refused: true, pullVersion: 1 });
});

it('a dismissed refusal disappears in all tabs, even offline, and on the server', async () => {
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
