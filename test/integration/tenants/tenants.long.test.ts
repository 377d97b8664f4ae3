import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTenants, Problem } from '../../../src/index.js';
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

/** Waits until so many are open. */
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

  it('are opened when they are first used, once, whoever asks meanwhile', async () => {
    const open = vi.fn((tenant: string) => opened(urls[tenant]!));
    tenants = await startTenants(urls, { open });
    expect(await occupancy(tenants)).toEqual({ open: 0, busy: 0, failing: 0 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => pull(tenants, 'acme')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(open.mock.calls).toEqual([['acme']]);
  });

  it('are served to callers whom the application has identified itself', async () => {
    tenants = await startTenants(urls);
    const ask = (path: string, body: object) => requestTo(path, { tenant: 'cyan', body });
    expect((await tenants.pull(ask('/any', pullBody), { userID: 'ann' })).status).toBe(200);
    expect((await tenants.pull(ask('/any', pullBody), null)).status).toBe(401);
    expect((await tenants.push(ask('/any', { nonsense: true }), { userID: 'ann' })).status).toBe(400);
    expect((await tenants.poke(ask('/any', {}), { userID: 'ann' })).status).toBe(405);
    expect((await tenants.pull(ask('/any', pullBody), { userID: '' })).status).toBe(401);
    const poke = vi.fn();
    const end = await tenants.onPoke('cyan', { userID: 'ann' }, poke);
    await push(tenants, 'cyan', { id: 'n', body: 'hello' });
    await vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(2));
    end();
    await expect(tenants.ready('cyan')).resolves.toBeUndefined();
    await expect(tenants.onPoke('none', { userID: 'ann' }, poke)).rejects.toMatchObject({ code: 'not-found' });
    await expect(tenants.ready('none')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('that there are not are answered with 404, without being asked for each time', async () => {
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

  it('may be refused with an answer of the application', async () => {
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

  it('refuse bounds that cannot be', async () => {
    const open = () => null;
    for (const bound of [{ mostOpen: 0 }, { idleMs: -1 }, { connections: Number.NaN }]) {
      await expect(createTenants({ tenantOf, open, ...bound })).rejects.toThrow(RangeError);
    }
  });
});

describe('a tenant that is open', () => {
  it('is closed when nobody has used it for a while, and opened again when somebody does', async () => {
    tenants = await startTenants(urls, { idleMs: 50 });
    await pull(tenants, 'acme');
    await untilOpen(0);
    await vi.waitFor(async () => expect(await connectionsTo(databases[0]!)).toBe(0));
    expect((await pull(tenants, 'acme')).status).toBe(200);
  });

  it('stays open while somebody listens, reads or is answered', async () => {
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
    // What is idle goes with the next sweep: of these, one is.
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

  it('costs its database nothing while nobody uses it', async () => {
    tenants = await startTenants(urls);
    for (const name of names) await pull(tenants, name);
    /** When a connection to each last did something. */
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
    const looks = new Set<string>();
    await vi.waitFor(async () => {
      looks.add((await active())[0]!);
      expect(looks.size).toBeGreaterThan(10);
    }, 10_000);
    // Those that look for changes have looked ten times, and nobody has asked the others for anything.
    expect(idle.length).toBe(2);
    expect((await active()).slice(1)).toEqual(idle);
    end();
  });

  it('makes room for another if it has not been used for longest', async () => {
    tenants = await startTenants(urls, { mostOpen: 2 });
    for (const name of ['acme', 'blau', 'acme', 'cyan']) await pull(tenants, name);
    expect(await occupancy(tenants)).toMatchObject({ open: 2 });
    await vi.waitFor(async () => expect(await connectionsTo(databases[1]!)).toBe(0));
    expect(await connectionsTo(databases[0]!)).toBeGreaterThan(0);
  });

  it('keeps its room while it is busy: others are told to come back', async () => {
    tenants = await startTenants(urls, { mostOpen: 1 });
    const end = await tenants.onPoke('acme', { userID: 'ann' }, () => {});
    const refused = await pull(tenants, 'blau');
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1']);
    expect((await pull(tenants, 'none')).status).toBe(404);
    expect((await pull(tenants, 'acme')).status).toBe(200);
    end();
    await vi.waitFor(async () => expect((await pull(tenants, 'blau')).status).toBe(200));
  });

  it('has its upkeep done when it has been used, also if it is closed before', async () => {
    const ticks = async () => (await databases[2]!.pool.query('select from tidemark.tick')).rowCount!;
    const before = await ticks();
    tenants = await startTenants(urls, { idleMs: 50 });
    await pull(tenants, 'cyan');
    await untilOpen(0);
    await vi.waitFor(async () => expect(await ticks()).toBe(before + 1));
  });
});

describe('the process', () => {
  it('serves all tenants over a single connection, if it has no more', async () => {
    tenants = await startTenants(urls, { connections: 1 });
    const ids = { clientID: 'of one', clientGroupID: 'of one' };
    const work = names.map(async (name) => {
      const pushed = await push(tenants, name, { id: 'one', body: 'hello' }, ids);
      const pulled = await pull(tenants, name, 'ann', { clientGroupID: 'of one' });
      return [pushed.status, pulled.status];
    });
    expect(await Promise.all(work)).toEqual(names.map(() => [200, 200]));
  });

  it('says how it is, whatever a tenant is like', async () => {
    tenants = await startTenants({ ...urls, dead: 'postgres://nobody@127.0.0.1:1/none' }, { metrics: 'public' });
    await pull(tenants, 'acme');
    expect((await pull(tenants, 'dead')).status).toBe(503);
    const ask = async (path: string) =>
      (await tenants.fetch(requestTo(path, { method: 'GET', tenant: 'dead' }))).text();
    expect(JSON.parse(await ask('/healthz'))).toEqual({ status: 'ok' });
    expect(JSON.parse(await ask('/readyz'))).toEqual({ status: 'ok', tenants: { open: 1, busy: 0, failing: 1 } });
    const metrics = await ask('/metrics');
    expect(metrics).toMatch(/^tidemark_tenants\{state="open"\} 1$/m);
    expect(metrics).toMatch(/^tidemark_tenants\{state="failing"\} 1$/m);
    expect(metrics).toMatch(/^tidemark_request_duration_seconds_count\{route="\/sync\/pull",status="200"\} 1$/m);
    for (const told of ['acme', 'dead', 'ann']) expect(metrics).not.toMatch(new RegExp(`"${told}"`));
    const failed = tenants.lines.filter(({ message }) => message === 'A tenant cannot be opened');
    expect(failed.map(({ fields }) => fields.tenant)).toEqual(['dead']);
    expect(tenants.lines.find(({ fields }) => fields.path === '/sync/pull')!.fields.tenant).toBe('acme');
  });

  it('shows nobody its metrics by default', async () => {
    tenants = await startTenants(urls);
    expect((await tenants.fetch(requestTo('/metrics', { method: 'GET', tenant: 'acme' }))).status).toBe(404);
  });
});
