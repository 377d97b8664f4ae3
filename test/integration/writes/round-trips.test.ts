/** The number of times that a write waits for the database. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { OwnTransactions } from '../../../packages/tidemark/src/writes/calls/call-transactions.js';
import { Calls } from '../../../packages/tidemark/src/writes/calls/calls.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { createPool, createTestDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { mutation, pushRequest } from './push-requests.js';

let database: TestDatabase;
let pool: pg.Pool;
let db: Database;
/** The statements sent, one text for each message. */
const sent: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 1);
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const counted = (...args: unknown[]) => {
      const [statement] = args as [string | { text: string }];
      sent.push(typeof statement === 'string' ? statement : statement.text);
      return query(...args);
    };
    Object.assign(client, { query: counted });
  });
  db = openPool(pool);
  await database.pool.query('create table entry (n int)');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => sent.splice(0));

const add = defineMutator(({ tx }) => tx.query('insert into entry values (1)'));
const mutators = defineMutators({ add });
const caller = { context: { userID: 'u' }, requestID: 'r', log: silent };
const pushOf = (first: number, last: number) =>
  createPush({ db, tx: (client) => client, mutators })(
    pushRequest(
      'g',
      Array.from({ length: last - first + 1 }, (_, i) => mutation(first + i, 'add')),
    ),
    caller,
  );

describe('a push', () => {
  it('of one mutation takes three round trips, including the mutator’s', async () => {
    await pushOf(1, 1);
    sent.splice(0);
    expect(await pushOf(2, 2)).toBeNull();
    expect(sent).toEqual([expect.stringMatching(/^begin .*claim_mutation/s), 'insert into entry values (1)', 'commit']);
  });

  it('of ten mutations takes three more round trips than its mutators, and leaves no settings', async () => {
    await pushOf(1, 2);
    const settings = async () =>
      (
        await pool.query(
          `select current_setting('lock_timeout') as wait, current_setting('transaction_isolation') as level`,
        )
      ).rows[0];
    const before = await settings();
    sent.splice(0);
    // No time passes, however slow the machine is.
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
    expect(await pushOf(3, 12).finally(() => vi.useRealTimers())).toBeNull();
    expect(sent).toHaveLength(13);
    expect(await settings()).toEqual(before);
  });
});

it('a call with an idempotency key takes as many round trips as one without', async () => {
  const calls = new Calls({
    mutators,
    transactions: new OwnTransactions(db, (client) => client),
    keyRetentionSeconds: 60,
  });
  const call = (idempotencyKey?: string) =>
    calls.run({ kind: 'call', call: { name: 'add', args: null } }, caller, { idempotencyKey, rollback: false });
  // The first call in a while also deletes old keys.
  await call('a');
  await expect.poll(() => sent.filter((text) => text.endsWith('commit'))).toHaveLength(2);
  sent.splice(0);
  await call();
  expect(sent.splice(0)).toHaveLength(3);
  expect((await call('b')).replayed).toBe(false);
  expect(sent.splice(0)).toHaveLength(3);
  expect((await call('b')).replayed).toBe(true);
  expect(sent).toHaveLength(2);
});
