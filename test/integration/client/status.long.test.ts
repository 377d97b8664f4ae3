import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { type AnyViews, createClient } from '../../../packages/client/src/index.js';
import { Problem } from '../../../packages/tidemark/src/errors.js';
import { freePort } from '../../support/process.js';
import { useApplication } from './application.js';

vi.spyOn(console, 'error').mockImplementation(() => {});

let isDown = false;
const application = useApplication({
  schemaVersions: ['', '1'],
  async authenticate(request) {
    if (isDown) throw new Problem('unavailable', 'Down');
    return authenticate(request);
  },
});
const { client } = application;

describe('the status of a client', () => {
  it('says that requests are refused, and what to do', async () => {
    const ann = client({ auth: 'nonsense' });
    await expect.poll(() => ann.status.get().state).toBe('unauthorized');
    expect(ann.status.get().error).toMatchObject({ code: 'unauthenticated', message: /`auth`.*`getAuth`/ });
  });

  it('is unauthorized while pokes are refused too, although the client then seldom pulls', async () => {
    const fetching = vi.spyOn(globalThis, 'fetch');
    const requests = (path: string) => fetching.mock.calls.filter(([url]) => String(url).includes(path)).length;
    const ann = client({ auth: 'nonsense' });
    // Three requests within nine seconds.
    await expect.poll(() => requests('/sync/poke'), { timeout: 12_000 }).toBe(3);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(ann.status.get().state).toBe('unauthorized');
    expect(requests('/sync/pull')).toBeLessThanOrEqual(2);
    fetching.mockRestore();
  });

  it('says which address is wrong', async () => {
    const ann = client({ url: `${application.server.url}/elsewhere` });
    await expect.poll(() => ann.status.get().state).toBe('error');
    expect(ann.status.get().error).toMatchObject({ code: 'not-found', message: /elsewhere\/sync\/pull.*`url`/ });
  });

  it('says that the server cannot be reached', async () => {
    const port = await freePort();
    const ann = client({ url: `http://127.0.0.1:${port}` });
    await expect.poll(() => ann.status.get().state).toBe('offline');
    expect(ann.status.get().error).toMatchObject({ code: 'unreachable', message: /withCORS/ });
  });

  it('says that the version is not served, and that the application must be reloaded', async () => {
    const ann = client({ schemaVersion: '2' });
    await expect.poll(() => ann.status.get()).toMatchObject({ state: 'error', outdated: true });
    expect(ann.status.get().error).toMatchObject({ code: 'version-not-supported', message: /schemaVersions/ });
    expect(client({ schemaVersion: '1' }).status.get()).toEqual({
      state: 'connecting',
      error: null,
      outdated: false,
      storage: 'memory',
      storageError: null,
      progress: null,
    });
  });

  it('says that the server has become unavailable, even if the client has nothing to send', async () => {
    const ann = client({ pullInterval: null });
    await expect.poll(() => ann.status.get().state).toBe('online');
    isDown = true;
    await application.server.pool.query("select tidemark.disconnect('ann')");
    try {
      await expect.poll(() => ann.status.get().state, { timeout: 15_000 }).toBe('error');
      expect(ann.status.get().error).toMatchObject({ code: 'unavailable' });
    } finally {
      isDown = false;
    }
    await expect.poll(() => ann.status.get().state, { timeout: 15_000 }).toBe('online');
  });

  it('is the same object until it changes, and each change is reported to listeners', async () => {
    const ann = client();
    const listener = vi.fn();
    const stop = ann.status.subscribe(listener);
    await expect.poll(() => ann.status.get().state).toBe('online');
    const status = ann.status.get();
    await ann.pull();
    expect(ann.status.get()).toBe(status);
    expect(listener.mock.calls).toEqual([[status]]);
    stop();
    await ann.close();
    expect(ann.status.get().state).toBe('closed');
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('says that the client’s record is lost and it must start over, and the next client works', async () => {
    const user = 'of a lost record';
    const ann = client({ user });
    await ann.mutate.list.create({ id: 'a', name: 'Kept' });
    await expect.poll(() => ann.pending.get()).toEqual([]);
    await application.server.pool.query('delete from tidemark.client');
    await ann.mutate.list.create({ id: 'b', name: 'Lost' });
    await expect
      .poll(() => ann.status.get())
      .toMatchObject({ state: 'error', error: { code: 'client-state-not-found' } });
    // Later events do not change the status.
    ann.setOnline(false);
    expect(ann.status.get()).toMatchObject({ state: 'error', error: { code: 'client-state-not-found' } });
    await ann.close();
    const next = client({ user });
    await expect.poll(() => next.view('list').list()).toHaveLength(1);
    await expect.poll(() => next.status.get().state).toBe('online');
  });
});

describe('getAuth', () => {
  it('is called first if there is no auth', async () => {
    const getAuth = vi.fn(async () => 'Bearer ann');
    const fetching = vi.spyOn(globalThis, 'fetch');
    const ann = client({ auth: undefined, getAuth });
    await expect.poll(() => ann.status.get().state).toBe('online');
    const sent = fetching.mock.calls.map(([, init]) => new Headers(init?.headers).get('Authorization'));
    fetching.mockRestore();
    expect(new Set(sent)).toEqual(new Set(['Bearer ann']));
    expect(getAuth).toHaveBeenCalledTimes(1);
  });

  it('is called when auth is refused', async () => {
    const getAuth = vi.fn(async () => 'Bearer ann');
    const ann = client({ auth: 'expired', getAuth });
    await expect.poll(() => ann.status.get().state).toBe('online');
    expect(ann.status.get().error).toBeNull();
  });

  it('leaves the client unauthorized if it fails', async () => {
    const getAuth = () => Promise.reject(new Error('No session'));
    const ann = client({ auth: undefined, getAuth });
    await expect.poll(() => ann.status.get().state).toBe('unauthorized');
  });
});

describe('createClient throws', () => {
  // In other environments, the client reports what is missing only when it is used.
  beforeEach(() => void vi.stubGlobal('window', globalThis));
  afterEach(() => void vi.unstubAllGlobals());

  it.each([
    ['without a user', { url: 'http://localhost', user: '' }, /`user`/],
    ['without an address where there is no page', { user: 'ann' }, /`url`/],
    ['without a store where there is no IndexedDB', { user: 'ann', url: 'http://localhost' }, /kvStore: 'mem'/],
  ])('%s', (_, options, message) => {
    expect(() => createClient<unknown, AnyViews>(options)).toThrow(message);
  });

  it('with a mutator that is not a function', () => {
    const mutators = { list: { create: 'later' } } as never;
    expect(() => client({ mutators })).toThrow(/"list.create" is not a function/);
  });
});
