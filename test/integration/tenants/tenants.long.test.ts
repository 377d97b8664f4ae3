import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTenants, Problem } from '../../../packages/tidemark/src/index.js';
import type { TestDatabase } from '../../support/database.js';
import {
  beginPull,
  createTenantDatabase,
  occupancy,
  opened,
  pull,
  pullBody,
  push,
  requestTo,
  startTenants,
  type Tenanted,
  tenantOf,
} from './tenanted.js';

const names = ['acme', 'blau', 'cyan'] as const;
let databases: TestDatabase[];
let urls: Record<string, string>;
beforeAll(async () => {
  databases = [];
  for (const _ of names) databases.push(await createTenantDatabase());
  urls = Object.fromEntries(names.map((name, i) => [name, databases[i]!.url]));
});
afterAll(() => Promise.all(databases.map((database) => database.drop())));

let tenants: Tenanted;
afterEach(() => tenants?.close());

/** Waits until this many tenants are open. */
const untilOpen = (open: number) =>
  vi.waitFor(async () => expect(await occupancy(tenants)).toMatchObject({ open, busy: 0 }));
const patchOf = async (response: Response | Promise<Response>) => (await (await response).json()).patch;
const connectionsTo = async ({ pool }: TestDatabase) =>
  (
    await pool.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'tidemark'`,
    )
  ).rowCount;

describe('many tenants', () => {
  it('each have their own data', async () => {
    tenants = await startTenants(urls);
    expect((await push(tenants, 'acme', { id: 'n', body: 'hello' })).status).toBe(200);
    expect(await patchOf(pull(tenants, 'acme'))).toMatchObject([{ op: 'put', key: 'note/n' }]);
    expect(await patchOf(pull(tenants, 'blau'))).toEqual([]);
  });

  it('are opened once, when they are first used, by concurrent requests', async () => {
    const open = vi.fn((tenant: string) => opened(urls[tenant]!));
    tenants = await startTenants(urls, { open });
    expect(await occupancy(tenants)).toEqual({ open: 0, busy: 0, failing: 0 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => pull(tenants, 'acme')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(open.mock.calls).toEqual([['acme']]);
  });

  it('are served to users whom the application itself has identified', async () => {
    tenants = await startTenants(urls);
    const request = (path: string, body: object) => requestTo(path, { tenant: 'cyan', body });
    expect((await tenants.pull(request('/any', pullBody), { userID: 'ann' })).status).toBe(200);
    expect((await tenants.pull(request('/any', pullBody), null)).status).toBe(401);
    expect((await tenants.push(request('/any', { nonsense: true }), { userID: 'ann' })).status).toBe(400);
    expect((await tenants.poke(request('/any', {}), { userID: 'ann' })).status).toBe(400);
    expect((await tenants.pull(request('/any', pullBody), { userID: '' })).status).toBe(401);
    const poke = vi.fn();
    const end = await tenants.onPoke('cyan', { userID: 'ann' }, poke);
    await push(tenants, 'cyan', { id: 'n', body: 'hello' });
    await vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(2));
    end();
    await expect(tenants.ready('cyan')).resolves.toBeUndefined();
    await expect(tenants.onPoke('none', { userID: 'ann' }, poke)).rejects.toMatchObject({ code: 'not-found' });
    await expect(tenants.ready('none')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('that do not exist are answered with 404, and `open` is called once for each', async () => {
    const open = vi.fn(() => null);
    tenants = await startTenants(urls, { open });
    for (let i = 0; i < 3; i++) {
      const answer = await pull(tenants, 'none');
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([404, 'application/problem+json']);
      expect(await answer.json()).toMatchObject({ code: 'not-found', detail: 'There is no such tenant' });
    }
    expect(open).toHaveBeenCalledOnce();
    expect((await tenants.fetch(requestTo('/sync/pull', { body: pullBody }))).status).toBe(404);
    for (const name of ['', 'x'.repeat(201), '\0', '\ud800']) {
      const odd = await startTenants(urls, { open, tenantOf: () => name });
      expect((await pull(odd, 'any')).status).toBe(404);
      await odd.close();
    }
    expect(open).toHaveBeenCalledOnce();
  });

  it('may be refused with a problem that the application throws', async () => {
    const open = () => {
      throw new Problem('forbidden', 'This tenant has not paid');
    };
    tenants = await startTenants(urls, { open });
    expect(await (await pull(tenants, 'acme')).json()).toMatchObject({
      status: 403,
      detail: 'This tenant has not paid',
    });
    const closed = await startTenants(urls, {
      tenantOf: () => {
        throw new Error('secret');
      },
    });
    const answer = await pull(closed, 'acme');
    expect([answer.status, (await answer.text()).includes('secret')]).toEqual([500, false]);
    await closed.close();
  });

  it('are refused with impossible limits', async () => {
    const open = () => null;
    for (const limit of [{ maxOpen: 0 }, { idleMs: -1 }, { connections: Number.NaN }]) {
      await expect(createTenants({ tenantOf, open, ...limit })).rejects.toThrow(RangeError);
    }
  });
});

describe('an open tenant', () => {
  it('is closed after an idle time, and opened again by the next request', async () => {
    tenants = await startTenants(urls, { idleMs: 50 });
    await pull(tenants, 'acme');
    await untilOpen(0);
    await vi.waitFor(async () => expect(await connectionsTo(databases[0]!)).toBe(0));
    expect((await pull(tenants, 'acme')).status).toBe(200);
  });

  it('stays open while it has a stream, a hook or a response in progress', async () => {
    tenants = await startTenants(urls, { idleMs: 50 });
    const stream = (
      await tenants.fetch(requestTo('/sync/poke?clientGroupID=g&profileID=p', { tenant: 'acme', method: 'GET' }))
    ).body!;
    await databases[1]!.pool.query(`
      insert into note select i::text, 'big', repeat('x', 1000) from generate_series(1, 2000) i`);
    const reading = (await beginPull(tenants, 'blau', 'big')).body!.getReader();
    await reading.read();
    const end = await tenants.onPoke('cyan', { userID: 'ann' }, () => {});
    await (await beginPull(tenants, 'acme')).body!.cancel();
    // The next sweep closes tenants that are idle. One of these is.
    const others = await startTenants(urls, { idleMs: 50 });
    await pull(others, 'acme');
    await vi.waitFor(async () => expect(await occupancy(others)).toMatchObject({ open: 0 }));
    await others.close();
    expect(await occupancy(tenants)).toEqual({ open: 3, busy: 3, failing: 0 });
    await stream.cancel();
    end();
    await vi.waitFor(async () => expect(await occupancy(tenants)).toEqual({ open: 1, busy: 1, failing: 0 }));
    while (!(await reading.read()).done);
    await untilOpen(0);
    await databases[1]!.pool.query('delete from note');
  });

  it('sends no statements to its database while it is not used', async () => {
    tenants = await startTenants(urls);
    for (const name of names) await pull(tenants, name);
    /** The time at which a connection to each database was last active. */
    const active = async (): Promise<string[]> => {
      const { rows } = await databases[0]!.pool.query<{ at: string }>(
        `select max(state_change)::text as at from pg_stat_activity
         where application_name = 'tidemark' and datname = any ($1) group by datname order by array_position($1, datname)`,
        [databases.map(({ url }) => new URL(url).pathname.slice(1))],
      );
      return rows.map(({ at }) => at);
    };
    const end = await tenants.onPoke('acme', { userID: 'ann' }, () => {});
    const [, ...idle] = await active();
    const polls = new Set<string>();
    await vi.waitFor(async () => {
      polls.add((await active())[0]!);
      expect(polls.size).toBeGreaterThan(10);
    }, 10_000);
    // The tenant with a subscriber has polled ten times, and the other databases have received no statement.
    expect(idle.length).toBe(2);
    expect((await active()).slice(1)).toEqual(idle);
    end();
  });

  it('is closed for another tenant if it is the least recently used one', async () => {
    tenants = await startTenants(urls, { maxOpen: 2 });
    for (const name of ['acme', 'blau', 'acme', 'cyan']) await pull(tenants, name);
    expect(await occupancy(tenants)).toMatchObject({ open: 2 });
    await vi.waitFor(async () => expect(await connectionsTo(databases[1]!)).toBe(0));
    expect(await connectionsTo(databases[0]!)).toBeGreaterThan(0);
  });

  it('stays open while it is busy, and other tenants get a time to retry', async () => {
    tenants = await startTenants(urls, { maxOpen: 1 });
    const end = await tenants.onPoke('acme', { userID: 'ann' }, () => {});
    const refused = await pull(tenants, 'blau');
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1']);
    expect((await pull(tenants, 'none')).status).toBe(404);
    expect((await pull(tenants, 'acme')).status).toBe(200);
    end();
    await vi.waitFor(async () => expect((await pull(tenants, 'blau')).status).toBe(200));
  });

  it('gets its upkeep after it has been used, even if it is closed before', async () => {
    const heartbeats = async () => (await databases[2]!.pool.query('select from tidemark.heartbeat')).rowCount!;
    const before = await heartbeats();
    tenants = await startTenants(urls, { idleMs: 50 });
    await pull(tenants, 'cyan');
    await untilOpen(0);
    await vi.waitFor(async () => expect(await heartbeats()).toBe(before + 1));
  });
});

describe('a process with tenants', () => {
  it('serves all tenants over a single connection if it may open only one', async () => {
    tenants = await startTenants(urls, { connections: 1 });
    const ids = { clientID: 'of one', clientGroupID: 'of one' };
    const work = names.map(async (name) => {
      const pushed = await push(tenants, name, { id: 'one', body: 'hello' }, ids);
      const pulled = await pull(tenants, name, 'ann', { clientGroupID: 'of one' });
      return [pushed.status, pulled.status];
    });
    expect(await Promise.all(work)).toEqual(names.map(() => [200, 200]));
  });

  it('reports its own health and metrics, even if a tenant fails', async () => {
    tenants = await startTenants({ ...urls, dead: 'postgres://nobody@127.0.0.1:1/none' }, { metrics: 'public' });
    await pull(tenants, 'acme');
    expect((await pull(tenants, 'dead')).status).toBe(503);
    const textOf = async (path: string) =>
      (await tenants.fetch(requestTo(path, { method: 'GET', tenant: 'dead' }))).text();
    expect(JSON.parse(await textOf('/healthz'))).toEqual({ status: 'ok' });
    expect(JSON.parse(await textOf('/readyz'))).toEqual({ status: 'ok', tenants: { open: 1, busy: 0, failing: 1 } });
    const metrics = await textOf('/metrics');
    expect(metrics).toMatch(/^tidemark_tenants\{state="open"\} 1$/m);
    expect(metrics).toMatch(/^tidemark_tenants\{state="failing"\} 1$/m);
    expect(metrics).toMatch(/^tidemark_request_duration_seconds_count\{route="\/sync\/pull",status="200"\} 1$/m);
    for (const name of ['acme', 'dead', 'ann']) expect(metrics).not.toMatch(new RegExp(`"${name}"`));
    const failed = tenants.lines.filter(({ message }) => message === 'A tenant cannot be opened');
    expect(failed.map(({ fields }) => fields.tenant)).toEqual(['dead']);
    expect(tenants.lines.find(({ fields }) => fields.path === '/sync/pull')!.fields.tenant).toBe('acme');
  });

  it('does not serve metrics by default', async () => {
    tenants = await startTenants(urls);
    expect((await tenants.fetch(requestTo('/metrics', { method: 'GET', tenant: 'acme' }))).status).toBe(404);
  });
});
