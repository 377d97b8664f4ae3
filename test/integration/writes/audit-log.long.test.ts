/** The audit log records the outcome of each mutation and call, and nothing else. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { AuditLog } from '../../../packages/tidemark/src/store/audit-log.js';
import { mutation, pushBody } from '../conformance/wire.js';
import { type Served, serve } from '../rest/served.js';

const minute = 60;

let served: Served;
let db: Database;
beforeEach(async () => {
  served = await serve({ auditLogRetentionSeconds: minute });
  db = openPool(served.database.url);
});
afterEach(async () => {
  await db.close();
  await served.close();
});

const push = (mutations: unknown[], user = 'ann') =>
  served.send('/sync/push', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Sync-RequestID': 'r', Authorization: `Bearer ${user}` },
    body: JSON.stringify(pushBody(mutations)),
  });

const create = (id: number) => mutation(id, 'note.create', { id: `n${id}` });

async function entries(): Promise<[user: string, mutator: string | null, outcome: string, mutation: number | null][]> {
  const { rows } = await served.database.pool.query({
    rowMode: 'array',
    text: 'select user_id, mutator, outcome, mutation_id::int from tidemark.audit_log order by at',
  });
  return rows as Awaited<ReturnType<typeof entries>>;
}

describe('the audit log of a push', () => {
  it('has an entry for each mutation, in order, even if some fail', async () => {
    const failing = [
      mutation(4, 'note.refuse', { id: 'x' }),
      mutation(5, 'note.create', { id: '' }),
      mutation(6, 'none\0such', null),
      mutation(7, 'note.create', { id: 'n1' }),
    ];
    expect((await push([create(1), create(2), create(3), ...failing, create(8)])).status).toBe(200);
    expect(await entries()).toEqual([
      ['ann', 'note.create', 'applied', 1],
      ['ann', 'note.create', 'applied', 2],
      ['ann', 'note.create', 'applied', 3],
      ['ann', 'note.refuse', 'mutator-error', 4],
      ['ann', 'note.create', 'invalid-args', 5],
      ['ann', null, 'unknown-mutator', 6],
      ['ann', 'note.create', 'conflict', 7],
      ['ann', 'note.create', 'applied', 8],
    ]);
  });

  it('has the user, the request, the client and the time', async () => {
    await push([create(1)]);
    const { rows } = await served.database.pool.query(
      `select user_id, request_id, client_group_id, client_id, now() - at < interval '1 minute' as is_new
       from tidemark.audit_log`,
    );
    const who = { user_id: 'ann', request_id: 'r', client_group_id: 'group', client_id: 'client' };
    expect(rows).toEqual([{ ...who, is_new: true }]);
  });

  it('has one entry for a mutation that arrives repeatedly', async () => {
    const mutations = Array.from({ length: 40 }, (_, i) =>
      i % 7 === 3 ? mutation(i + 1, 'note.refuse', { id: `n${i + 1}` }) : create(i + 1),
    );
    await Promise.all([1, 20, 40, 40, 40].map((length) => push(mutations.slice(0, length))));
    const written = await entries();
    expect(written.map(([, , , id]) => id)).toEqual(mutations.map(({ id }) => id));
    const applied = written.filter(([, , outcome]) => outcome === 'applied').map(([, , , id]) => `n${id}`);
    expect(applied.toSorted()).toEqual(await served.notes());
  });

  it('has no entry for a mutation that is not next, or that another user sent', async () => {
    await push([create(1)]);
    await push([create(3)]);
    expect((await push([create(2)], 'ben')).status).toBe(403);
    expect(await entries()).toHaveLength(1);
  });
});

describe('the audit log of calls', () => {
  it('has an entry for each call that was applied or failed', async () => {
    await served.call('/note/create', { id: 'a' });
    await served.call('/note/create', { id: 'a' });
    await served.call('/note/refuse', { id: 'b' });
    await served.call('/note/create', { id: 1 });
    await served.call('/none', { id: 1 });
    expect(await entries()).toEqual([
      ['ann', 'note.create', 'applied', null],
      ['ann', 'note.create', 'conflict', null],
      ['ann', 'note.refuse', 'mutator-error', null],
      ['ann', 'note.create', 'invalid-args', null],
      ['ann', null, 'unknown-mutator', null],
    ]);
  });

  it('has an entry for each call of a batch, or only for the one that failed', async () => {
    const at = (id: string) => ({ name: 'note.at', args: { id, at: 1 } });
    const deep = { name: 'deep.er.name' };
    await served.call('', [at('a'), deep]);
    await served.call('', [deep, { name: 'note.refuse', args: { id: 'b' } }, deep]);
    await served.call('', [deep, at('c')]);
    expect(await entries()).toEqual([
      ['ann', 'note.at', 'applied', null],
      ['ann', 'deep.er.name', 'applied', null],
      ['ann', 'note.refuse', 'mutator-error', null],
      ['ann', 'deep.er.name', 'conflict', null],
      ['ann', 'note.at', 'conflict', null],
    ]);
  });

  it('has no entries for dry runs and replayed answers', async () => {
    const key = { 'Idempotency-Key': 'k' };
    await served.call('/note/create', { id: 'a' }, key);
    expect((await served.call('/note/create', { id: 'a' }, key)).headers.get('Idempotent-Replayed')).toBe('true');
    for (const path of ['/note/create', '/note/refuse']) {
      const { headers } = await served.call(path, { id: 'b' }, { Prefer: 'tx=rollback' });
      expect([path, headers.get('Preference-Applied')]).toEqual([path, path === '/note/create' ? 'tx=rollback' : null]);
    }
    expect(await entries()).toEqual([['ann', 'note.create', 'applied', null]]);
  });

  it('misses an entry only with an error in the log', async () => {
    await served.database.pool.query('alter table tidemark.audit_log rename to gone');
    expect((await served.call('/note/refuse', { id: 'a' })).status).toBe(409);
    expect(served.lines.map(({ message }) => message)).toContain('A failed call is missing from the audit log');
  });
});

it('no mutation or call is applied without an audit log entry', async () => {
  await served.database.pool.query('alter table tidemark.audit_log rename to gone');
  expect((await push([create(1)])).status).toBe(500);
  expect((await push([create(1), create(2)])).status).toBe(500);
  expect((await served.call('/note/create', { id: 'a' })).status).toBe(500);
  expect(await served.notes()).toEqual([]);
  await served.database.pool.query('alter table tidemark.gone rename to audit_log');
  expect((await push([create(1), create(2)])).status).toBe(200);
  expect(await served.notes()).toEqual(['n1', 'n2']);
});

it('audit log entries are deleted after the retention time', async () => {
  await served.database.pool.query(`
    insert into tidemark.audit_log (at, user_id, request_id, mutator, outcome)
    select now() - make_interval(secs => n), 'ann', '', 'm', 'applied' from generate_series(30, 25029) n`);
  await new AuditLog(20_000).prune(db);
  const { rows } = await served.database.pool.query(
    'select count(*)::int, extract(epoch from now() - min(at))::int as oldest from tidemark.audit_log',
  );
  expect(rows[0].oldest).toBeLessThanOrEqual(20_000);
  expect(rows[0].count).toBeGreaterThan(19_900);
});

it('without a retention time, no audit log entries are written or deleted', async () => {
  await push([create(1)]);
  await new AuditLog(0).prune(db);
  expect(new AuditLog(0).record({ userID: 'ann', requestID: 'r' }, [{ mutator: 'm', outcome: 'applied' }])).toEqual([]);
  expect(await entries()).toHaveLength(1);
});

it('a server does not start if it cannot write the audit log', async () => {
  await served.database.pool.query('drop table tidemark.audit_log');
  await expect(new AuditLog(minute).check(db)).rejects.toThrow(/The audit log cannot be written: run tidemark migrate/);
  await new AuditLog(0).check(db);
});
