import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type TasksClient, useApplication } from './application.js';

const application = useApplication();

/** Every call of a client that returns a promise. */
const calls: [name: string, call: (client: TasksClient) => Promise<unknown>][] = [
  ['mutate', (client) => client.mutate.list.create({ id: 'late', name: 'Late' })],
  ['mutate without a function on the client', (client) => client.mutate.list.delete({ id: 'late' })],
  ['list', (client) => client.view('list').list()],
  ['get', (client) => client.view('list').get('a')],
  ['count', (client) => client.view('list').count()],
  ['query', (client) => client.query((tx) => tx.view('list').list())],
  ['pull', (client) => client.pull()],
];

describe.each<[how: string, code: string, end: (one: TasksClient, two: TasksClient) => Promise<unknown>]>([
  ['after close', 'closed', (one) => one.close()],
  ['after a sign-out', 'signed-out', (one) => one.signOut()],
  ['after a sign-out in another tab', 'signed-out', (_, two) => two.signOut()],
])('%s', (_, code, end) => {
  it.each(calls)('%s rejects', async (_name, call) => {
    const user = randomUUID();
    const [one, two] = [application.client({ user }), application.client({ user })];
    await expect.poll(() => one.status.get().state).toBe('online');
    await end(one, two);
    await expect.poll(() => one.status.get().state).toBe('closed');
    await expect(call(one)).rejects.toMatchObject({ name: 'ClientError', code, message: /What to do/ });
    expect(one.pending.get()).toEqual([]);
  });
});

it('calls are kept if they resolved before the client is closed, or were made just before', async () => {
  const user = randomUUID();
  const ann = application.client({ user });
  await expect.poll(() => ann.status.get().state).toBe('online');
  ann.setOnline(false);
  await ann.mutate.list.create({ id: 'a', name: 'Resolved' });
  const begun = ann.mutate.list.create({ id: 'b', name: 'Begun' });
  await ann.close();
  await begun;
  const lists = await application.stored({ user }, (tab) => tab.view('list').list());
  expect(lists.map(({ id }) => id)).toEqual(['a', 'b']);
});
