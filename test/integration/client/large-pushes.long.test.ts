/** Calls and pushes that are larger than the server, or a proxy in front of it, accepts. */
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type HostileProxy, openProxy, pass } from '../../stress/hostile/proxy.js';
import { type TasksClient, useApplication } from './application.js';

vi.spyOn(console, 'error').mockImplementation(() => {});

const application = useApplication({ limits: { mutations: 100 } });

/** The sizes of the pushes that the proxy has forwarded, in bytes. */
const forwarded: number[] = [];
let maxBytes = Number.POSITIVE_INFINITY;
let proxy: HostileProxy;
beforeAll(async () => {
  proxy = await openProxy(
    () => application.server.url,
    ({ path, bytes }) => {
      if (path !== '/sync/push') return pass;
      if (bytes > maxBytes) return { kind: 'too large' };
      forwarded.push(bytes);
      return pass;
    },
  );
});
afterAll(() => proxy.close());
beforeEach(() => {
  forwarded.length = 0;
  maxBytes = Number.POSITIVE_INFINITY;
});

/** An offline client whose pushes go through the proxy. */
async function offline(): Promise<TasksClient> {
  const ann = application.client({
    url: proxy.url,
    pullInterval: 1000,
  });
  await expect.poll(() => ann.status.get().state).toBe('online');
  ann.setOnline(false);
  return ann;
}

const create = (client: TasksClient, id: string, name = id) => client.mutate.list.create({ id, name });
const ofClient = (client: TasksClient) => client.refused.get().filter(({ clientID }) => clientID === client.clientID);
const onServer = async () =>
  (await application.server.pool.query('select id from list order by id')).rows.map(({ id }) => id);

it('more calls than one push may contain arrive in order', async () => {
  const ann = await offline();
  await create(ann, 'first');
  await ann.mutate.todo.create({ id: 'counted', listID: 'first', title: '0', sort: 1 });
  for (let i = 1; i < 300; i++) await ann.mutate.todo.update({ id: 'counted', title: `${i}` });
  await create(ann, 'last');
  ann.setOnline(true);
  await expect.poll(() => ann.pending.get().length, { timeout: 20_000 }).toBe(0);
  expect(await onServer()).toEqual(['first', 'last']);
  await expect.poll(() => ann.view('todo').get('counted')).toMatchObject({ title: '299' });
  expect(ann.status.get()).toMatchObject({ state: 'online', error: null });
  expect(forwarded.length).toBeGreaterThan(3);
}, 30_000);

it('pushes become smaller until a proxy accepts them', async () => {
  maxBytes = 20_000;
  const ann = await offline();
  const ids = Array.from({ length: 200 }, (_, i) => `${1000 + i}`);
  for (const id of ids) await create(ann, id, 'x'.repeat(90));
  ann.setOnline(true);
  await expect.poll(() => ann.pending.get().length, { timeout: 20_000 }).toBe(0);
  expect(await onServer()).toEqual(ids);
  expect(ann.status.get()).toMatchObject({ state: 'online', error: null });
}, 30_000);

it('a call that is too large is refused without blocking others, and later ones are refused when made', async () => {
  maxBytes = 20_000;
  const ann = await offline();
  await create(ann, 'a');
  await create(ann, 'large', 'x'.repeat(50_000));
  await create(ann, 'z');
  ann.setOnline(true);
  await expect
    .poll(() => ofClient(ann), { timeout: 10_000 })
    .toMatchObject([
      { mutationID: 2, name: 'list.create', code: 'body-too-large', detail: 'The call is too large to be sent' },
    ]);
  await expect.poll(() => ann.pending.get()).toEqual([]);
  expect(await onServer()).toEqual(['a', 'z']);
  await expect.poll(async () => (await ann.view('list').list()).map(({ id }) => id)).toEqual(['a', 'z']);
  expect(ann.status.get()).toMatchObject({ state: 'online', error: null });

  const again = create(ann, 'larger', 'x'.repeat(60_000));
  await expect(again).rejects.toMatchObject({ name: 'ClientError', code: 'body-too-large', message: /What to do/ });
  await create(ann, 'small');
  await expect.poll(onServer).toEqual(['a', 'small', 'z']);
}, 30_000);

it('calls stay pending, with an error in the status, while the server accepts no push', async () => {
  maxBytes = 10;
  const ann = await offline();
  await create(ann, 'a');
  ann.setOnline(true);
  await expect.poll(() => ann.status.get()).toMatchObject({ state: 'error', error: { code: 'http-413' } });
  expect(ann.pending.get()).toHaveLength(1);
  maxBytes = Number.POSITIVE_INFINITY;
  await expect.poll(() => ann.pending.get(), { timeout: 10_000 }).toEqual([]);
}, 20_000);
