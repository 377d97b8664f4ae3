/** Mutators that begin nested transactions, through query builders: each mutation and its number commit together. */

import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { Kysely, PostgresDialect } from 'kysely';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { defineMutators, mutatorFor } from '../../../packages/tidemark/src/registry/mutators.js';
import { OwnTransactions } from '../../../packages/tidemark/src/writes/calls/call-transactions.js';
import { Calls } from '../../../packages/tidemark/src/writes/calls/calls.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { lastMutationIDs, mutation, pushRequest } from './push-requests.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openPool(database.url);
  await database.pool.query(`
    create table entry (name text primary key, n int check (n < 100), xid xid8 default pg_current_xact_id());
    create table hot (id int primary key, n int);
    insert into hot values (1, 0)`);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(() => database.pool.query('truncate entry, tidemark.client, tidemark.client_group'));

/** The operations of a mutator, with any query builder. */
interface Writer {
  add(name: string, n?: number): Promise<unknown>;
  /** Runs work in a transaction within the current one. */
  transaction(work: (inner: Writer) => Promise<unknown>): Promise<unknown>;
  /** Sends a text of the mutator's own. */
  send(text: string): Promise<unknown>;
}

const entry = pgTable('entry', { name: text().primaryKey(), n: integer() });

function onDrizzle(client: PoolClient): Writer {
  const writer = (tx: Pick<NodePgDatabase, 'insert' | 'transaction' | 'execute'>): Writer => ({
    add: (name, n = 1) => tx.insert(entry).values({ name, n }),
    transaction: (work) => tx.transaction((inner) => work(writer(inner))),
    send: (statement) => tx.execute(statement),
  });
  return writer(drizzle(client));
}

function onKysely(client: PoolClient): Writer {
  type Tables = { entry: { name: string; n: number } };
  const pool = { connect: async () => client, end: async () => {} };
  const outer = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const writer = (tx: Kysely<Tables>): Writer => ({
    add: (name, n = 1) => tx.insertInto('entry').values({ name, n }).execute(),
    // Kysely nests through a transaction of the outer builder.
    transaction: (work) => outer.transaction().execute((inner) => work(writer(inner))),
    send: (statement) => client.query(statement),
  });
  return writer(outer);
}

/** Sends statements as Prisma's adapter does, over a client that it takes from a pool and returns. */
function onAdapter(client: PoolClient): Writer {
  const run = (connection: PoolClient, text: string, values: unknown[] = []) =>
    connection.query({ text, values, rowMode: 'array' });
  const writer = (connection: PoolClient): Writer => ({
    add: (name, n = 1) => run(connection, 'INSERT INTO "entry" ("name", "n") VALUES ($1, $2)', [name, n]),
    async transaction(work) {
      const inner = (await client.connect()) as unknown as PoolClient;
      await run(inner, 'BEGIN');
      await run(inner, 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
      try {
        await work(writer(inner));
        await run(inner, 'COMMIT');
      } catch (error) {
        await run(inner, 'ROLLBACK');
        throw error;
      } finally {
        inner.release();
      }
    },
    send: (statement) => run(connection, statement),
  });
  return writer(client);
}

type Work = (tx: Writer, name: string) => Promise<unknown>;

const works: Record<string, Work> = {
  'does not nest': (tx, name) => tx.add(name),
  'commits a nested one': (tx, name) => tx.transaction((inner) => inner.add(name)),
  'rolls a nested one back': async (tx, name) => {
    await tx.add(name);
    const inside = tx.transaction(async (inner) => {
      await inner.add(`${name} inside`);
      throw new Error('no');
    });
    await expect(inside).rejects.toThrow('no');
  },
  'continues after a nested failure': async (tx, name) => {
    await tx.add(name);
    await tx.transaction((inner) => inner.add(`${name} inside`, 100)).catch(() => {});
    await tx.transaction((inner) => inner.add(`${name} after`));
  },
  'ends with a nested failure': async (tx, name) => {
    await tx.add(name);
    await tx.transaction((inner) => inner.add(`${name} inside`, 100)).catch(() => {});
  },
  'nests two levels deep': (tx, name) =>
    tx.transaction(async (inner) => {
      await inner.add(name);
      await inner
        .transaction(async (innermost) => {
          await innermost.add(`${name} inside`);
          await innermost.send('select 1 / 0');
        })
        .catch(() => {});
      await inner.transaction((innermost) => innermost.add(`${name} after`));
    }),
  'fails after a nested commit': async (tx, name) => {
    await tx.transaction((inner) => inner.add(name));
    throw new Error('no');
  },
  'swallows a nested failure': async (tx, name) => {
    await tx.add(name);
    await tx.transaction((inner) => inner.add(`${name} inside`, 100).catch(() => {}));
  },
  'leaves a nested one open': async (tx, name) => {
    await tx.add(name);
    await tx.send('begin');
    await tx.add(`${name} inside`);
  },
};

/** The rows that each leaves behind, as suffixes of names; undefined if it fails. */
const suffixesLeft: Record<string, string[] | undefined> = {
  'does not nest': [''],
  'commits a nested one': [''],
  'rolls a nested one back': [''],
  'continues after a nested failure': ['', ' after'],
  'ends with a nested failure': [''],
  'nests two levels deep': ['', ' after'],
  'fails after a nested commit': undefined,
  'swallows a nested failure': undefined,
  'leaves a nested one open': undefined,
};

const defineWriter = mutatorFor<UserContext, Writer>();
const mutators = defineMutators(
  Object.fromEntries(
    Object.entries(works).map(([name, work]) => [
      name,
      defineWriter(async ({ tx, args }) => void (await work(tx, String(args)))),
    ]),
  ),
);

async function names(): Promise<string[]> {
  return (await database.pool.query('select name from entry order by name')).rows.map(({ name }) => name);
}

describe.each([
  ['Drizzle', onDrizzle],
  ['Kysely', onKysely],
  ['an adapter', onAdapter],
])('nested transactions of %s', (_name, tx) => {
  describe.each([
    ['that may share transactions', false],
    ['in separate transactions', true],
  ])('in mutations %s', (_which, separateTransactions) => {
    it('commit and fail with their mutations, and each mutation is applied once', async () => {
      const { log, lines } = memoryLog();
      const push = createPush({ db, tx, mutators, separateTransactions });
      const order = Object.keys(works).flatMap((name) => [
        'does not nest',
        name,
        'does not nest',
        name,
        'does not nest',
      ]);
      const request = pushRequest(
        'g',
        order.map((name, i) => mutation(i + 1, name, `${i + 1}`)),
      );
      const caller = { context: { userID: 'u' }, requestID: 'r', log };
      expect(await push(request, caller)).toBeNull();
      const expected = order.flatMap((name, i) => (suffixesLeft[name] ?? []).map((suffix) => `${i + 1}${suffix}`));
      expect(await names()).toEqual(expected.sort());
      const failures = order.flatMap((name, i) => (suffixesLeft[name] === undefined ? [i + 1] : []));
      expect(lines.map(({ level, fields }) => [level, fields.mutationID])).toEqual(failures.map((id) => ['error', id]));
      expect((await lastMutationIDs(database.pool)).c).toBe(order.length);
      // Nothing is applied a second time.
      expect(await push(request, caller)).toBeNull();
      expect(await names()).toEqual(expected);
    });
  });

  it.each(Object.keys(works))('work in a call with an idempotency key whose transaction %s', async (name) => {
    const calls = new Calls({ mutators, transactions: new OwnTransactions(db, tx), keyRetentionSeconds: 60 });
    const { log } = memoryLog();
    const call = () =>
      calls.run(
        { kind: 'call', call: { name, args: 'x' } },
        { context: { userID: 'u' }, requestID: 'r', log },
        { idempotencyKey: `${_name} ${name}`, rollback: false },
      );
    const suffixes = suffixesLeft[name];
    if (suffixes === undefined) await expect(call()).rejects.toThrow();
    else {
      expect((await call()).replayed).toBe(false);
      expect((await call()).replayed).toBe(true);
    }
    expect(await names()).toEqual((suffixes ?? []).map((suffix) => `x${suffix}`));
  });
});

it('a conflict in a nested transaction retries the whole mutation', async () => {
  let runs = 0;
  const conflict = mutatorFor<UserContext, NodePgDatabase>()(async ({ tx }) => {
    await tx.execute('select n from hot');
    if (++runs === 1) await database.pool.query('update hot set n = n + 1');
    await tx.transaction((inner) => inner.execute('update hot set n = n + 10'));
    await tx.insert(entry).values({ name: 'once' });
  });
  const { log, lines } = memoryLog();
  const push = createPush({ db, tx: (client) => drizzle(client), mutators: defineMutators({ conflict }) });
  const request = pushRequest('g', [mutation(1, 'conflict')]);
  expect(await push(request, { context: { userID: 'u' }, requestID: 'r', log })).toBeNull();
  expect(runs).toBe(2);
  expect(lines).toEqual([]);
  expect((await database.pool.query('select n from hot')).rows).toEqual([{ n: 11 }]);
  expect(await names()).toEqual(['once']);
});
