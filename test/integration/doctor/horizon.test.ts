import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { type Holder, judgeHolders, readHolders } from '../../../packages/tidemark/src/doctor/horizon.js';
import { server, usePatient } from './patient.js';

const patient = usePatient('create table todo (id int primary key, owner_id text)');
let client: pg.Client;

beforeEach(async () => {
  client = new pg.Client({ connectionString: patient.urlOf(server), application_name: 'nightly report' });
  // A test terminates the session.
  client.on('error', () => {});
  await client.connect();
});
afterEach(() => client.end());

/** The sessions that hold the horizon back, as the role sees them. */
async function holders(role = server): Promise<Holder[]> {
  const db = openPool(patient.urlOf(role));
  try {
    return await readHolders(db);
  } finally {
    await db.close();
  }
}

/** The same sessions, begun this many seconds earlier. */
const aged = (found: readonly Holder[], seconds: number) =>
  found.map((holder) => ({ ...holder, seconds: holder.seconds === null ? null : holder.seconds + seconds }));
const later = (found: readonly Holder[], transactions: number) =>
  found.map((holder) => ({ ...holder, transactions: holder.transactions + transactions }));

it.each([
  ['has written', 'begin; select pg_current_xact_id()'],
  ['has read a table', 'begin isolation level repeatable read; select from todo'],
])('horizon-held reports a session that %s and does not end its transaction', async (_, text) => {
  await client.query(text);
  const found = (await holders()).filter(({ application }) => application === 'nightly report');
  expect(found).toMatchObject([{ kind: 'session', role: server, state: 'idle in transaction' }]);
  expect(judgeHolders(aged(found, 3_000))).toEqual([]);
  const [judged] = judgeHolders(aged(found, 7_200));
  expect(judged).toMatchObject({
    code: 'horizon-held',
    severity: 'warning',
    subject: `session ${found[0]!.name}`,
    sql: `select pg_terminate_backend(${found[0]!.name})`,
  });
  expect(judged!.what).toMatch(/application nightly report, idle in transaction\) has held .* for 2\.0 hours/);
  await patient.run(judged!.sql!);
  await expect.poll(async () => (await holders()).filter(({ name }) => name === found[0]!.name)).toEqual([]);
});

it('horizon-held reports a session of another role by the number of transactions it holds back', async () => {
  const other = await patient.database.pool.connect();
  await other.query('begin; select pg_current_xact_id()');
  const pid = String((await other.query('select pg_backend_pid() as pid')).rows[0].pid);
  const found = (await holders()).filter(({ name }) => name === pid);
  expect(found).toMatchObject([{ kind: 'session', seconds: null }]);
  expect(judgeHolders(later(found, 900_000))).toEqual([]);
  expect(judgeHolders(later(found, 1_000_000))).toMatchObject([{ subject: `session ${pid}` }]);
  await other.query('rollback');
  other.release();
});

it('horizon-held reports a prepared transaction, and its SQL rolls it back', async () => {
  const gid = `it's \\ forgotten ${patient.database.url.slice(-8)}`;
  await patient.run(`begin; select pg_current_xact_id(); prepare transaction ${pg.escapeLiteral(gid)}`);
  const found = (await holders()).filter(({ name }) => name === gid);
  const [judged] = judgeHolders(aged(found, 7_200));
  expect(judged).toMatchObject({ code: 'horizon-held', subject: `prepared transaction ${gid}` });
  await patient.run(judged!.sql!);
  expect((await holders()).filter(({ name }) => name === gid)).toEqual([]);
});

it('the session that holds back the most transactions comes first', () => {
  const one: Holder = {
    kind: 'session',
    name: '1',
    database: 'a',
    role: null,
    application: null,
    state: null,
    seconds: 4_000,
    transactions: 10,
  };
  const order = judgeHolders([one, { ...one, name: '2', transactions: 20 }]).map(({ subject }) => subject);
  expect(order).toEqual(['session 2', 'session 1']);
});
