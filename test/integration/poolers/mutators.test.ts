/** Statements of mutators, where pgbouncer lends the same Postgres connection to the next transaction of any user. */
import type { ClientBase } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { type PgBouncer, pgbouncerIsMissing, startPgBouncer } from '../../support/pgbouncer.js';
import { mutation, pushRequest } from '../writes/push-requests.js';

describe.skipIf(pgbouncerIsMissing)('through pgbouncer', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.pool.query('create table note (id text)');
    pooler = await startPgBouncer(database.url, { size: 1 });
  });
  afterAll(async () => {
    await pooler.stop();
    await database.drop();
  });

  /** Pushes a user's first mutation through a new server. Returns the reason if it was skipped. */
  async function push(userID: string, work: (tx: ClientBase) => Promise<unknown>): Promise<unknown> {
    const db = openPool(pooler.url, { max: 2 });
    onTestFinished(() => db.close());
    const { log, lines } = memoryLog();
    const act = defineMutator(async ({ tx }) => {
      await work(tx);
    });
    const apply = createPush({ db, tx: (client) => client, mutators: defineMutators({ act }) });
    const request = pushRequest(userID, [mutation(1, 'act', null, userID)]);
    expect(await apply(request, { context: { userID }, requestID: 'r', log })).toBeNull();
    return lines[0];
  }

  it('prepared statements of mutators run even if another version uses their names for other texts', async () => {
    const add = (text: string) => (tx: ClientBase) => tx.query({ name: 'add', text, values: ['a note'] });
    expect(await push('ann', add('insert into note values ($1)'))).toBeUndefined();
    expect(await push('ben', add('insert into note values (upper($1))'))).toBeUndefined();
    expect(await push('cat', add('insert into note values ($1)'))).toBeUndefined();
    const { rows } = await database.pool.query('select id from note');
    expect(rows.map(({ id }) => id)).toEqual(['a note', 'A NOTE', 'a note']);
  });

  const lasting = [
    `set app.who = 'dan'`,
    'select pg_advisory_lock(7)',
    'create temp table mine as select 1 as secret',
    'prepare mine as select 1',
    'declare mine cursor with hold for select 1',
    'listen mine',
    'set role pg_monitor',
  ];
  const sessionText = `
    select current_user = session_user as "asItself", pg_backend_pid() as pid,
      nullif(current_setting('app.who', true), '') as who,
      (select count(*)::int from pg_class where relnamespace = pg_my_temp_schema()) as tables,
      (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
      (select count(*)::int from pg_prepared_statements where from_sql) as prepared,
      (select count(*)::int from pg_cursors where is_holdable) as cursors,
      (select count(*)::int from pg_listening_channels()) as channels`;
  const nothing = { who: null, asItself: true, tables: 0, locks: 0, prepared: 0, cursors: 0, channels: 0 };

  it.each([
    ['applied', false],
    ['skipped', true],
  ])('a mutation that is %s leaves nothing in the session', async (what, fails) => {
    let pid: number | undefined;
    const skipped = await push(`dan ${what}`, async (tx) => {
      pid = (await tx.query('select pg_backend_pid() as pid')).rows[0].pid;
      for (const text of lasting) await tx.query(text);
      if (fails) throw new Error('no');
    });
    expect(skipped === undefined).toBe(!fails);
    let session: unknown;
    await push(`eve ${what}`, async (tx) => {
      session = (await tx.query(sessionText)).rows[0];
    });
    expect(session).toEqual({ ...nothing, pid });
  });
});
