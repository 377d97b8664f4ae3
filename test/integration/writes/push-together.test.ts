/** Mutations that share a transaction: which ones do, what they see of one another, and the effects of a failure. */
import type { ClientBase } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
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

beforeAll(async () => {
  database = await createTestDatabase();
  db = openPool(database.url);
  await database.pool.query(`
    create table entry (seq serial, name text, setting text, xid xid8 default pg_current_xact_id(), at timestamptz default now());
    create table hot (id int primary key, n int);
    insert into hot values (1, 0), (2, 0)`);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(() => database.pool.query('truncate entry, tidemark.client, tidemark.client_group'));

const note = (tx: ClientBase, name: string) =>
  tx.query(`insert into entry (name, setting) values ($1, current_setting('app.level', true))`, [name]);

const plain = defineMutator(({ tx, args }) => note(tx, String(args)));

/** Pushes calls of these mutators, and of `plain`, by their names. */
function setUp(others: Record<string, Mutator> = {}, separateTransactions = false) {
  const { log, lines } = memoryLog();
  const mutators = defineMutators({ plain, ...others });
  const push = createPush({ db, tx: (client) => client, mutators, separateTransactions });
  const send = (names: readonly string[], first = 1, clientID = 'c') => {
    const request = pushRequest(
      'g',
      names.map((name, i) => mutation(first + i, name, `${name} ${first + i}`, clientID)),
    );
    // As the endpoint would report it.
    return push(request, { context: { userID: 'u' }, requestID: 'r', log }).catch(toProblem);
  };
  return { send, push, lines, log };
}

interface Entry {
  readonly name: string;
  readonly setting: string | null;
  readonly xid: string;
  readonly at: Date;
}

async function entries(): Promise<Entry[]> {
  return (await database.pool.query('select name, setting, xid::text, at from entry order by seq')).rows;
}

/** The number of mutations that each transaction has applied. */
async function batchSizes(): Promise<number[]> {
  const { rows } = await database.pool.query('select count(*)::int as n from entry group by xid order by xid');
  return rows.map((row) => row.n);
}

/** Runs work while no time passes, so that no transaction ends early, however slow the machine is. */
async function inNoTime<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  return work().finally(() => vi.useRealTimers());
}

const applied = async () => (await lastMutationIDs(database.pool)).c;
const times = (n: number, name = 'plain') => Array<string>(n).fill(name);

describe('mutations of a push', () => {
  it('share transactions, up to a hundred in one, and keep their order', async () => {
    const { send } = setUp();
    expect(await inNoTime(() => send(times(150)))).toBeNull();
    expect((await entries()).map(({ name }) => name)).toEqual(times(150).map((name, i) => `${name} ${i + 1}`));
    expect(await applied()).toBe(150);
    expect(await batchSizes()).toEqual([100, 50]);
    const first = (await entries())[0]!;
    const second = (await entries())[1]!;
    expect([second.xid, second.at]).toEqual([first.xid, first.at]);
  });

  it('have separate transactions if the application sets that option', async () => {
    const { send } = setUp({}, true);
    expect(await send(times(5))).toBeNull();
    expect(await batchSizes()).toEqual([1, 1, 1, 1, 1]);
    expect(await applied()).toBe(5);
  });

  it('of several clients are applied in the order of the push', async () => {
    const { push, log } = setUp();
    const calls = [
      [1, 'a'],
      [2, 'a'],
      [1, 'b'],
      [3, 'a'],
      [2, 'b'],
      [3, 'b'],
    ] as const;
    const request = pushRequest(
      'g',
      calls.map(([id, client]) => mutation(id, 'plain', `${client}${id}`, client)),
    );
    expect(await push(request, { context: { userID: 'u' }, requestID: 'r', log })).toBeNull();
    expect((await entries()).map(({ name }) => name)).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'b3']);
    expect(await lastMutationIDs(database.pool)).toEqual({ a: 3, b: 3 });
  });

  it('that arrive again are applied once, and a gap ends the push after the mutations before it', async () => {
    const { send } = setUp();
    await send(times(3));
    await send(times(5));
    expect((await entries()).map(({ name }) => name)).toEqual([1, 2, 3, 4, 5].map((n) => `plain ${n}`));
    expect(await send(times(3), 7)).toMatchObject({ code: 'mutation-gap', status: 409 });
    expect(await send(times(3), 6)).toBeNull();
    expect(await applied()).toBe(8);
  });

  it('are recorded with the transaction that applied them', async () => {
    const { send } = setUp();
    for (const [count, first] of [
      [4, 1],
      [1, 5],
      [2, 6],
    ] as const) {
      await send(times(count), first);
      const { rows } = await database.pool.query('select xid::text from tidemark.client');
      expect(rows[0].xid).toBe((await entries()).at(-1)!.xid);
    }
  });

  it('join a transaction for 25 ms', async () => {
    const slow = defineMutator(async ({ tx, args }) => {
      await note(tx, String(args));
      vi.advanceTimersByTime(10);
    });
    const { send } = setUp({ slow });
    expect(await inNoTime(() => send(times(7, 'slow')))).toBeNull();
    expect(await batchSizes()).toEqual([3, 3, 1]);
    expect(await applied()).toBe(7);
  });

  it('that take long are visible before the push ends', async () => {
    const seen: number[] = [];
    const slow = defineMutator(async ({ tx, args }) => {
      await note(tx, String(args));
      await tx.query('select pg_sleep(0.03)');
      seen.push((await applied()) ?? 0);
    });
    const { send } = setUp({ slow });
    await send(times(7, 'slow'));
    expect(seen.at(-1)).toBeGreaterThan(3);
    expect(Math.max(...(await batchSizes()))).toBeLessThan(4);
    expect(await applied()).toBe(7);
  });
});

describe('a mutation that shares a transaction with others', () => {
  const level = (text: string) =>
    defineMutator(async ({ tx, args }) => {
      await tx.query(text);
      await note(tx, String(args));
    });
  const settings: [kind: string, text: string][] = [
    ['SET LOCAL', `set local app.level = 'high'`],
    ['set_config()', `select set_config('app.level', 'high', true)`],
    ['SET LOCAL in a second statement', `select 1; set local app.level = 'high'`],
  ];

  it.each(settings)('does not see their settings: %s', async (_kind, text) => {
    const { send } = setUp({ raise: level(text) });
    const names = ['raise', 'plain', 'plain', 'raise', 'plain', 'raise', 'raise', 'plain'];
    expect(await inNoTime(() => send(names))).toBeNull();
    expect(await inNoTime(() => send(names, 9))).toBeNull();
    const levels = (await entries()).map(({ name, setting }) => [name.split(' ')[0], setting || null]);
    expect(levels).toEqual([...names, ...names].map((name) => [name, name === 'raise' ? 'high' : null]));
    expect(await applied()).toBe(16);
    // Mutations that had to wait for a transaction of their own can share one the next time.
    await inNoTime(() => send(times(9), 17));
    const [one, other] = (await entries()).slice(-2);
    expect(one!.xid).toBe(other!.xid);
  });

  it('does not run with their role', async () => {
    await database.pool.query(`create role push_nobody`);
    try {
      const { send, lines } = setUp({ drop: defineMutator(({ tx }) => tx.query('set local role push_nobody')) });
      expect(await send(['drop', 'plain', 'drop', 'plain'])).toBeNull();
      expect((await entries()).map(({ name }) => name)).toEqual(['plain 2', 'plain 4']);
      expect(lines).toEqual([]);
    } finally {
      await database.pool.query('drop role push_nobody');
    }
  });

  it('does not see their temporary tables', async () => {
    const temporary = defineMutator(async ({ tx, args }) => {
      await tx.query('create temp table mine (n int) on commit drop');
      await note(tx, String(args));
    });
    const { send, lines } = setUp({ temporary });
    expect(await send(['plain', 'temporary', 'temporary', 'plain'])).toBeNull();
    expect(await entries()).toHaveLength(4);
    expect(lines).toEqual([]);
  });

  it('cannot satisfy a deferred constraint for them', async () => {
    await database.pool.query(
      'create table node (id int primary key, parent int references node deferrable initially deferred)',
    );
    try {
      const add = (id: number, parent: number) =>
        defineMutator(({ tx }) => tx.query('insert into node values ($1, $2)', [id, parent]));
      // Alone, the first mutation is refused, although the second would satisfy the constraint.
      const { send, lines } = setUp({ child: add(2, 1), root: add(1, 1) });
      expect(await send(['plain', 'child', 'root', 'plain'])).toBeNull();
      expect((await database.pool.query('select id from node')).rows).toEqual([{ id: 1 }]);
      expect(lines.map(({ fields }) => fields.mutationID)).toEqual([2]);
      expect(await applied()).toBe(4);
    } finally {
      await database.pool.query('drop table node');
    }
  });

  it('cannot satisfy a constraint that another mutation has deferred', async () => {
    await database.pool.query('create table node (id int primary key, parent int references node deferrable)');
    try {
      const child = defineMutator(async ({ tx }) => {
        await tx.query('set constraints all deferred');
        await tx.query('insert into node values (2, 1)');
      });
      const root = defineMutator(({ tx }) => tx.query('insert into node values (1, 1)'));
      const { send, lines } = setUp({ child, root });
      expect(await send(['plain', 'child', 'root', 'child', 'plain'])).toBeNull();
      expect((await database.pool.query('select id from node order by id')).rows).toEqual([{ id: 1 }, { id: 2 }]);
      expect(lines.map(({ fields }) => fields.mutationID)).toEqual([2]);
    } finally {
      await database.pool.query('drop table node');
    }
  });
});

describe('a mutation that tries to end its transaction', () => {
  const ending = (text: string) =>
    defineMutator(async ({ tx, args }) => {
      await note(tx, String(args));
      await tx.query(text);
    });
  const heedless = (text: string) =>
    defineMutator(async ({ tx, args }) => {
      await note(tx, String(args));
      await tx.query(text).catch(() => {});
      await note(tx, `${args} again`);
    });

  it.each(
    ['commit', 'commit; begin', 'end', 'rollback', 'rollback and chain'].flatMap((text) => [
      [text, 'and fails', ending(text)] as const,
      [text, 'and continues', heedless(text)] as const,
    ]),
  )('with %s %s is skipped alone, and nothing is confirmed early', async (_text, _how, mutator) => {
    let confirmed: number | undefined;
    const readApplied = defineMutator(async () => {
      confirmed = await applied();
    });
    const { send, lines } = setUp({ ending: mutator, readApplied });
    expect(await send(['ending', 'plain', 'ending', 'readApplied', 'plain', 'ending'])).toBeNull();
    expect(confirmed).toBe(3);
    expect((await entries()).map(({ name }) => name)).toEqual(['plain 2', 'plain 5']);
    expect(lines.map(({ level, fields }) => [level, fields.mutationID])).toEqual([1, 3, 6].map((id) => ['error', id]));
    expect(lines[0]!.fields.error).toMatchObject({ name: 'TransactionControlError' });
    expect(await applied()).toBe(6);
  });
});

describe('a validator that takes long', () => {
  it('holds no connection, and does not delay earlier mutations', async () => {
    let go = () => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    let validations = 0;
    const validate = async (value: unknown) => {
      validations++;
      await gone;
      return { value };
    };
    const slow = defineMutator({ '~standard': { version: 1, vendor: 'hand', validate } }, ({ tx, args }) =>
      note(tx as ClientBase, String(args)),
    );
    const { send } = setUp({ slow });
    const pushed = send(['plain', 'plain', 'slow', 'slow', 'plain']);
    await expect.poll(applied, { timeout: 5000 }).toBe(2);
    const { rows } = await database.pool.query(
      "select state from pg_stat_activity where state like 'idle in transaction%' and datname = current_database()",
    );
    expect(rows).toEqual([]);
    go();
    expect(await pushed).toBeNull();
    expect((await entries()).map(({ name }) => name)).toEqual(['plain 1', 'plain 2', 'slow 3', 'slow 4', 'plain 5']);
    expect(validations).toBe(2);
  });
});

describe('a mutation among others that fails permanently', () => {
  const failing: [kind: string, mutator: Mutator][] = [
    [
      'after a write',
      defineMutator(async ({ tx }) => {
        await note(tx, 'left behind');
        throw new Error('no');
      }),
    ],
    [
      'in Postgres',
      defineMutator(async ({ tx }) => {
        await note(tx, 'left behind');
        await tx.query('select 1 / 0');
      }),
    ],
    [
      'with a swallowed error',
      defineMutator(async ({ tx }) => {
        await note(tx, 'left behind');
        await tx.query('select 1 / 0').catch(() => {});
      }),
    ],
    [
      'with a swallowed error after a savepoint',
      defineMutator(async ({ tx }) => {
        await tx.query('savepoint a');
        await tx.query('select 1 / 0').catch(() => {});
      }),
    ],
    [
      'immediately',
      defineMutator(() => {
        throw new Error('no');
      }),
    ],
  ];

  it.each(failing)('%s is the only one skipped, in any position', async (_kind, mutator) => {
    const { send, lines } = setUp({ failing: mutator });
    const names = ['failing', ...times(7), 'failing', 'failing', ...times(5), 'failing'];
    expect(await inNoTime(() => send(names))).toBeNull();
    const valid = names.flatMap((name, i) => (name === 'plain' ? [`plain ${i + 1}`] : []));
    expect((await entries()).map(({ name }) => name)).toEqual(valid);
    expect(lines.map(({ fields, level }) => [level, fields.mutationID])).toEqual(
      [1, 9, 10, 16].map((id) => ['error', id]),
    );
    expect(await applied()).toBe(16);
    expect(await batchSizes()).toEqual([7, 5]);
  });

  it('at the commit is the only one skipped', async () => {
    await database.pool.query(`
      create function forbid() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = '23514'; end $$;
      create constraint trigger forbid after insert on entry deferrable for each row when (new.name like 'bad%') execute function forbid()`);
    try {
      // The server does not see what functions of the database do.
      await database.pool.query(
        `create function defer() returns void language plpgsql as $$ begin set constraints all deferred; end $$`,
      );
      const bad = defineMutator(async ({ tx, args }) => {
        await tx.query('select defer()');
        await note(tx, String(args));
      });
      const { send, lines } = setUp({ bad });
      expect(await send(['plain', 'plain', 'bad', 'plain'])).toBeNull();
      expect((await entries()).map(({ name }) => name)).toEqual(['plain 1', 'plain 2', 'plain 4']);
      expect(lines.map(({ fields }) => fields.mutationID)).toEqual([3]);
      expect(await applied()).toBe(4);
    } finally {
      await database.pool.query('drop trigger forbid on entry; drop function forbid, defer');
    }
  });
});

describe('a mutation among others that fails temporarily', () => {
  it('stops the push, and the mutations before it remain applied', async () => {
    let isBroken = true;
    const broken = defineMutator(({ tx, args }) => {
      if (isBroken) throw Object.assign(new Error('full'), { code: '53100' });
      return note(tx, String(args));
    });
    const { send, lines } = setUp({ broken });
    const names = [...times(4), 'broken', ...times(3)];
    expect(await send(names)).toMatchObject({ code: 'unavailable', status: 503 });
    expect(await applied()).toBe(4);
    expect(lines.map(({ level, fields }) => [level, fields.mutationID])).toEqual([['warn', 5]]);
    isBroken = false;
    expect(await send(names)).toBeNull();
    expect((await entries()).map(({ name }) => name)).toEqual(names.map((name, i) => `${name} ${i + 1}`));
  });

  it('because its backend was killed is applied once, like the others, after retries', async () => {
    let kills = 0;
    const killed = defineMutator(async ({ tx, args }) => {
      await note(tx, String(args));
      if (++kills > 3) return;
      const { rows } = await tx.query('select pg_backend_pid() as pid');
      await database.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    });
    const { send } = setUp({ killed });
    const names = [...times(6), 'killed', ...times(6)];
    const answers = [];
    do answers.push(await send(names));
    while (answers.at(-1) !== null && answers.length < 10);
    expect(answers.at(-1)).toBeNull();
    expect((await entries()).map(({ name }) => name)).toEqual(names.map((name, i) => `${name} ${i + 1}`));
    expect(await applied()).toBe(13);
  });

  it('because of a conflict is retried together with the mutations that share its transaction', async () => {
    let runs = 0;
    const conflict = defineMutator(async ({ tx, args }) => {
      await tx.query('select n from hot where id = 1');
      if (++runs === 1) await database.pool.query('update hot set n = n + 1 where id = 1');
      await tx.query('update hot set n = n + 1 where id = 1');
      await note(tx, String(args));
    });
    const { send, lines } = setUp({ conflict });
    const names = [...times(3), 'conflict', ...times(3)];
    expect(await send(names)).toBeNull();
    expect((await entries()).map(({ name }) => name)).toEqual(names.map((name, i) => `${name} ${i + 1}`));
    expect(runs).toBe(2);
    expect(lines).toEqual([]);
  });
});

describe('a mutation that takes long', () => {
  it('does not delay the mutations before it', async () => {
    let go = () => {};
    let gone = Promise.resolve();
    const hold = () => {
      gone = new Promise((resolve) => {
        go = resolve;
      });
    };
    let runs = 0;
    let max = 0;
    let now = 0;
    const waiting = defineMutator(async ({ tx, args }) => {
      runs++;
      max = Math.max(max, ++now);
      await gone;
      now--;
      await note(tx, String(args));
    });
    const { send } = setUp({ waiting });
    const names = ['plain', 'plain', 'waiting', 'plain'];
    let sent = 0;
    // A busy machine may spend the transaction's time on the first two. Then the third runs alone from the beginning.
    do {
      runs = 0;
      hold();
      const pushed = send(names, sent + 1);
      await expect.poll(applied).toBe(sent + 2);
      await expect.poll(() => runs).toBe(1);
      go();
      expect(await pushed).toBeNull();
      const added = (await entries()).slice(sent).map(({ name }) => name);
      expect(added).toEqual(names.map((name, i) => `${name} ${sent + 1 + i}`));
      sent += 4;
    } while (runs === 1 && sent < 40);
    // It never runs twice at the same time. Next time, it runs alone from the beginning.
    expect([runs, max]).toEqual([2, 1]);
    hold();
    const again = send(['plain', 'waiting', 'plain'], sent + 1);
    await expect.poll(applied).toBe(sent + 1);
    go();
    expect(await again).toBeNull();
    expect(runs).toBe(3);
  });

  it('because it waits for a lock does not delay the mutations before it', async () => {
    const locked = defineMutator(async ({ tx, args }) => {
      await tx.query('update hot set n = n + 1 where id = 2');
      await note(tx, String(args));
    });
    const { send } = setUp({ locked });
    const other = await database.pool.connect();
    try {
      await other.query('begin; update hot set n = 0 where id = 2');
      const pushed = send(['plain', 'plain', 'locked', 'plain']);
      await expect.poll(applied, { timeout: 5000 }).toBe(2);
      await other.query('rollback');
      expect(await pushed).toBeNull();
    } finally {
      other.release();
    }
    expect((await entries()).map(({ name }) => name)).toEqual(['plain 1', 'plain 2', 'locked 3', 'plain 4']);
  });
});
