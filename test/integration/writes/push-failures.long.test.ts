import type { ClientBase } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { toProblem } from '../../../packages/tidemark/src/http/problem.js';
import { defineMutator, defineMutators, type Mutator } from '../../../packages/tidemark/src/registry/mutators.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { lastMutationIDs, mutation, pushRequest } from './push-requests.js';

let database: TestDatabase;
let db: Database;
let separateTransactions = false;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openPool(database.url);
  await database.pool.query(`
    create table item (
      id text primary key,
      n int check (n > 0),
      parent text references item deferrable initially deferred
    );
    create table hot (id int primary key, n int);
    insert into hot values (1, 0)`);
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

beforeEach(() => database.pool.query('truncate item, tidemark.client, tidemark.client_group'));

const insert = (tx: ClientBase, id: string, n = 1, parent: string | null = null) =>
  tx.query('insert into item (id, n, parent) values ($1, $2, $3)', [id, n, parent]);

const ok = defineMutator(({ tx }) => insert(tx, 'ok'));

/** Pushes a mutation of `failing` between two valid ones. Whatever it wrote is in `item` under `left behind`. */
async function pushThree(failing: Mutator | undefined, args: unknown = null, name = 'failing', pushDB = db) {
  const { log, lines } = memoryLog();
  const push = createPush({
    db: pushDB,
    tx: (client) => client,
    mutators: defineMutators({
      before: defineMutator(({ tx }) => insert(tx, 'before')),
      ok,
      ...(failing && { failing }),
    }),
    separateTransactions,
  });
  const request = pushRequest('g', [mutation(1, 'before'), mutation(2, name, args), mutation(3, 'ok')]);
  // As the endpoint would report it.
  const answer = await push(request, { context: { userID: 'u' }, requestID: 'r', log }).catch(toProblem);
  const { rows } = await database.pool.query('select id from item order by id');
  return { answer, ids: rows.map((row) => row.id), applied: (await lastMutationIDs(database.pool)).c, lines };
}

function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}

function circular(): unknown {
  const error: Record<string, unknown> = { code: 'E_OWN' };
  error.cause = error;
  return error;
}

function hostile(): unknown {
  return new Proxy(
    {},
    {
      get: () => {
        throw new Error('no');
      },
      ownKeys: () => {
        throw new Error('no');
      },
    },
  );
}

const fails = (thrown: unknown) =>
  defineMutator(async ({ tx }) => {
    await insert(tx, 'left behind');
    throw thrown;
  });

const anyArgs = defineMutator(({ tx, args }) => insert(tx, String(args)));

const permanent: [kind: string, mutator: Mutator | undefined, args?: unknown, name?: string][] = [
  ['an unknown name', undefined],
  ['the name __proto__', undefined, null, '__proto__'],
  ['the name constructor', undefined, null, 'constructor'],
  ['the name toString', undefined, null, 'toString'],
  ['args that a validator refuses', defineMutator(z.object({ n: z.number() }), () => {}), { n: 'one' }],
  [
    'a validator that throws',
    defineMutator(
      z.string().transform(() => {
        throw new Error('no');
      }),
      () => {},
    ),
    'a',
  ],
  [
    'a validator that returns an invalid issue among others',
    defineMutator(
      {
        '~standard': {
          version: 1 as const,
          vendor: 'test',
          validate: () => ({ issues: [...Array(10).fill({ message: 'no' }), null as never] }),
        },
      },
      () => {},
    ),
  ],
  ['an application error', fails(new Error('not allowed'))],
  ['a thrown null', fails(null)],
  ['a thrown undefined', fails(undefined)],
  ['a thrown string', fails('no')],
  ['a thrown symbol', fails(Symbol('no'))],
  ['a circular error', fails(circular())],
  ['an error whose getters throw', fails(hostile())],
  ['an object without a prototype', fails(Object.create(null))],
  [
    'a synchronous throw',
    defineMutator(() => {
      throw new Error('at once');
    }),
  ],
  ['a unique violation', defineMutator(({ tx }) => insert(tx, 'before'))],
  ['a check violation', defineMutator(({ tx }) => insert(tx, 'left behind', -1))],
  ['a deferred foreign key', defineMutator(({ tx }) => insert(tx, 'left behind', 1, 'nowhere'))],
  ['a value out of range', defineMutator(({ tx }) => insert(tx, 'left behind', 2 ** 40))],
  ['SQL that does not parse', defineMutator(({ tx }) => tx.query('selec'))],
  ['a permanent SQL exception of class 40', fails(Object.assign(new Error('x'), { code: '40002' }))],
  ['U+0000 in a text', anyArgs, 'a\0b'],
  ['a lone surrogate', anyArgs, 'a\ud800b'],
  ['a lone surrogate in a key', anyArgs, { 'a\udfff': 1 }],
  ['args nested 100,000 deep', anyArgs, nested(100_000)],
  [
    'a swallowed SQL error',
    defineMutator(async ({ tx }) => {
      await insert(tx, 'left behind');
      await tx.query('select 1 / 0').catch(() => {});
    }),
  ],
  [
    'a mutator that rolls its transaction back',
    defineMutator(async ({ tx }) => {
      await insert(tx, 'left behind');
      await tx.query('rollback');
    }),
  ],
];

const terminate = 'select pg_terminate_backend(pg_backend_pid())';

const conflict = defineMutator(async ({ tx }) => {
  await tx.query('select n from hot');
  await database.pool.query('update hot set n = n + 1');
  await tx.query('update hot set n = n + 1');
});

const withCode = (code: string) => Object.assign(new Error(code), { code });

const transient: [kind: string, mutator: Mutator][] = [
  ['a killed backend', defineMutator(({ tx }) => tx.query(terminate))],
  [
    'a killed backend behind another error',
    defineMutator(async ({ tx }) => {
      await tx.query(terminate).catch(() => {});
      throw new Error('something is off');
    }),
  ],
  ['a killed backend with a swallowed error', defineMutator(({ tx }) => tx.query(terminate).catch(() => {}))],
  [
    'a lock timeout',
    defineMutator(async ({ tx }) => {
      const other = await database.pool.connect();
      try {
        await other.query('begin; update hot set n = 0');
        await tx.query("set local lock_timeout = '20ms'; update hot set n = 1");
      } finally {
        await other.query('rollback');
        other.release();
      }
    }),
  ],
  [
    'a cancelled statement',
    defineMutator(({ tx }) => tx.query("set local statement_timeout = '20ms'; select pg_sleep(5)")),
  ],
  ['a serialization conflict beyond all retries', conflict],
  [
    'a wrapped serialization failure',
    defineMutator(() => {
      throw new Error('x', { cause: withCode('40001') });
    }),
  ],
  [
    'a validator that cannot reach the database',
    defineMutator(
      {
        '~standard': {
          version: 1,
          vendor: 'hand',
          validate: async () => {
            throw withCode('57P01');
          },
        },
      },
      () => {},
    ),
  ],
  [
    'a full disk',
    defineMutator(() => {
      throw withCode('53100');
    }),
  ],
  [
    'a read-only standby',
    defineMutator(({ tx }) => tx.query('set local transaction_read_only = on; update hot set n = 1')),
  ],
  ['an outside service that refuses the connection', defineMutator(() => fetch('http://127.0.0.1:59999'))],
  [
    'a reset connection',
    defineMutator(() => {
      throw withCode('ECONNRESET');
    }),
  ],
  [
    'a pool that is exhausted',
    defineMutator(() => {
      throw new Error('timeout exceeded when trying to connect');
    }),
  ],
];

describe.each([
  ['that may share transactions', false],
  ['in separate transactions', true],
])('among mutations %s,', (_which, separate) => {
  beforeEach(() => {
    separateTransactions = separate;
  });

  describe('a permanent failure', () => {
    it.each(permanent)(
      'is skipped, and the push continues: %s',
      async (_kind, mutator, args = null, name = 'failing') => {
        const { answer, ids, applied, lines } = await pushThree(mutator, args, name);
        expect(answer).toBeNull();
        expect(ids).toEqual(['before', 'ok']);
        expect(applied).toBe(3);
        expect(lines).toHaveLength(1);
        expect(lines[0]).toMatchObject({
          level: 'error',
          fields: { mutator: name, clientGroupID: 'g', clientID: 'c', mutationID: 2 },
        });
        expect(lines[0]?.fields.error).toBeTypeOf('object');
      },
    );
  });

  describe('a transient failure', () => {
    it.each(transient)('stops the push, and its mutation stays pending: %s', async (_kind, mutator) => {
      const { answer, ids, applied, lines } = await pushThree(mutator);
      expect(answer).toMatchObject({ code: 'unavailable', status: 503, headers: { 'Retry-After': '1' } });
      expect(ids).toEqual(['before']);
      expect(applied).toBe(1);
      expect(lines.map((line) => line.level)).toEqual(['warn']);
      // Once the cause is gone, the same push succeeds.
      expect(await pushThree(ok)).toMatchObject({ answer: null, applied: 3 });
    });

    it('stops the push: an unreachable database', async () => {
      const dead = openPool('postgres://postgres@127.0.0.1:9/none');
      expect((await pushThree(ok, null, 'ok', dead)).answer).toMatchObject({ code: 'unavailable' });
      await dead.close();
    });
  });

  it('a mutation with a swallowed serialization failure is retried', async () => {
    let runs = 0;
    const swallower = defineMutator(async ({ tx }) => {
      if (++runs === 1) {
        await tx.query('select n from hot');
        await database.pool.query('update hot set n = n + 1');
      }
      await tx.query('update hot set n = n + 1').catch(() => {});
    });
    expect(await pushThree(swallower)).toMatchObject({ answer: null, applied: 3, lines: [] });
    expect(runs).toBe(2);
  });

  it('a mutation that selects before it inserts survives a concurrent insert', async () => {
    let runs = 0;
    const getOrCreate = defineMutator(async ({ tx }) => {
      const { rowCount } = await tx.query("select from item where id = 'shared'");
      if (++runs === 1) await database.pool.query("insert into item (id, n) values ('shared', 1)");
      if (rowCount === 0) await insert(tx, 'shared');
    });
    expect(await pushThree(getOrCreate)).toMatchObject({ answer: null, applied: 3, lines: [] });
  });
});

it('a mutation is not skipped because a table of Tidemark is missing', async () => {
  await database.pool.query('alter table tidemark.client rename to hidden');
  try {
    const { log } = memoryLog();
    const push = createPush({ db, tx: (client) => client, mutators: defineMutators({ ok }) });
    const pushed = push(pushRequest('g', [mutation(1, 'ok')]), { context: { userID: 'u' }, requestID: 'r', log });
    await expect(pushed).rejects.toMatchObject({ code: '42P01' });
  } finally {
    await database.pool.query('alter table tidemark.hidden rename to client');
  }
});
