/** The outcome of a call: `confirmed`. */
import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { useApplication } from './application.js';

const application = useApplication();

/** The state of a promise at this moment. */
async function stateOf(promise: Promise<void>): Promise<string> {
  const settled = promise.then(
    () => 'resolved',
    () => 'rejected',
  );
  return Promise.race([settled, Promise.resolve('pending')]);
}

it('a call is confirmed when the server’s effects are here', async () => {
  const client = application.client();
  const call = client.mutate.list.create({ id: 'l', name: 'Groceries' });
  await call;
  expect(await client.view('list').get('l')).toMatchObject({ ownerID: 'me' });
  expect(client.pending.get()).toHaveLength(1);
  expect(await stateOf(call.confirmed)).toBe('pending');
  await call.confirmed;
  expect(await client.view('list').get('l')).toMatchObject({ ownerID: 'ann' });
  expect(await call).toBeUndefined();
  // A mutator without a function on the client.
  await client.mutate.list.delete({ id: 'l' }).confirmed;
  expect(await client.view('list').get('l')).toBeUndefined();
});

it('each call waits for its own confirmation, and for no network', async () => {
  const user = randomUUID();
  const [client, other] = [application.client({ user }), application.client({ user })];
  await client.mutate.list.create({ id: 'a', name: 'A' }).confirmed;
  client.setOnline(false);
  const calls = ['b', 'c', 'd'].map((id) => client.mutate.list.create({ id, name: id }));
  await Promise.all(calls);
  await other.mutate.list.create({ id: 'e', name: 'E' }).confirmed;
  for (const { confirmed } of calls) expect(await stateOf(confirmed)).toBe('pending');
  client.setOnline(true);
  await Promise.all(calls.map(({ confirmed }) => confirmed));
  expect(client.pending.get()).toEqual([]);
});

it('a refused call rejects with the refusal, also if the application dismisses it', async () => {
  const client = application.client();
  await client.mutate.list.create({ id: 'taken', name: 'Groceries' }).confirmed;
  client.onRefused((refusal) => void client.dismiss(refusal));
  const [call, next] = [
    client.mutate.list.create({ id: 'taken', name: 'Garden' }),
    client.mutate.list.create({ id: 'free', name: 'Garden' }),
  ];
  await call;
  await expect(call.confirmed).rejects.toMatchObject({
    name: 'ClientError',
    code: 'refused',
    message: 'A list with this ID already exists',
    refusal: { clientID: client.clientID, mutationID: 2, name: 'list.create', code: 'mutator-error' },
  });
  await next.confirmed;
});

it('a call that is not recorded is not confirmed', async () => {
  const create = vi.fn(() => {
    throw new Error('Not here');
  });
  const client = application.client({ mutators: { list: { create } } });
  const call = client.mutate.list.create({ id: 'l', name: 'Groceries' });
  await expect(call).rejects.toThrow('Not here');
  await expect(call.confirmed).rejects.toThrow('Not here');
});

it.each<[code: string, end: 'close' | 'signOut']>([
  ['closed', 'close'],
  ['signed-out', 'signOut'],
])('unconfirmed calls reject with "%s" after `%s`', async (code, end) => {
  const client = application.client();
  await expect.poll(() => client.status.get().state).toBe('online');
  const before = client.mutate.list.create({ id: randomUUID(), name: 'Sent' });
  await before.confirmed;
  client.setOnline(false);
  const recorded = client.mutate.list.create({ id: 'b', name: 'Recorded' });
  await recorded;
  const begun = client.mutate.list.create({ id: 'c', name: 'Begun' });
  await client[end]();
  for (const { confirmed } of [recorded, begun]) await expect(confirmed).rejects.toMatchObject({ code });
  await before.confirmed;
  const late = client.mutate.list.create({ id: 'd', name: 'Late' });
  await expect(late).rejects.toMatchObject({ code });
  await expect(late.confirmed).rejects.toMatchObject({ code });
});
