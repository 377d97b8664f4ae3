/** Clocks that users or their devices set. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { type HostileProxy, openProxy } from '../../stress/hostile/proxy.js';
import { useApplication } from './application.js';

const application = useApplication();
const onServer = async () => (await application.server.pool.query('select from list')).rowCount;

let proxy: HostileProxy;
beforeAll(async () => {
  // A poke would make the client pull, and then push.
  proxy = await openProxy(
    () => application.server.url,
    ({ path }) => ({ kind: path.startsWith('/sync/poke') ? 'swallow request' : 'pass' }),
  );
});
afterAll(() => proxy.close());
afterEach(() => void vi.restoreAllMocks());

it('calls are sent without delay after the clock has been set back', async () => {
  const ann = application.client({ url: proxy.url, pullInterval: null });
  await expect.poll(() => ann.status.get().state).toBe('online');
  await ann.mutate.list.create({ id: 'a', name: 'Before' });
  await expect.poll(onServer).toBe(1);
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
  await ann.mutate.list.create({ id: 'b', name: 'After' });
  await expect.poll(onServer, { timeout: 5_000 }).toBe(2);
});
