/** Every example of an ORM, in its own process. It passes the checks for every application, and writes correctly. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { identifier } from '../../../packages/tidemark/src/sql.js';
import { type JSONObject, mutation, pull, push, send } from '../../integration/conformance/wire.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { endsCleanly, type Serving, serve } from '../hosts/host.js';
import { type ProbedApplication, probe } from '../hosts/probe.js';
import { compileExamples, examples, installExamples, orms } from './examples.js';

const lists: ProbedApplication = {
  view: 'list',
  mutator: 'list.create',
  argsOf: (id, body) => ({ id, name: body }),
  rowOf: (id, body) => ({ id, name: body }),
};

beforeAll(installExamples, 300_000);

it('the examples compile with the declared types of rows', async () => {
  expect(await compileExamples()).toBe('');
});

describe.each(orms)('%s', (name) => {
  let database: TestDatabase;
  let serving: Serving;
  let hasEnded = false;
  let list: string;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    // Not UTC, so that times sent without a zone would change.
    await database.pool.query(
      `alter database ${identifier(new URL(database.url).pathname.slice(1))} set timezone = 'Asia/Kolkata'`,
    );
    serving = await serve({ args: ['--import', 'tsx', 'server.ts'], cwd: `${examples}${name}` }, database.url);
  });
  afterAll(async () => {
    if (!hasEnded) serving?.child.kill('SIGKILL');
    await serving?.ended;
    await database.drop();
  });
  beforeEach(async () => {
    list = `list of ${expect.getState().currentTestName}`;
    await call('list.create', { id: list, name: 'Home' });
  });
  afterEach(() => database.pool.query('truncate todo'));

  /** Pushes mutations of a client in a client group of the test's own. */
  const pushed = (...mutations: [name: string, args: JSONObject][]) => {
    const numbered = mutations.map(([mutator, args], i) => mutation(i + 1, mutator, args, `client of ${list}`));
    return push(serving, 'ann', numbered, { clientGroupID: list });
  };
  const call = (mutator: string, args: JSONObject) =>
    send(serving, `/api/mutators/${mutator.replace('.', '/')}`, args, { user: 'ann' });
  const todos = async () => {
    const { patch } = await pull(serving, 'ann', { clientGroupID: 'g' });
    const found = patch.flatMap((op) =>
      op.op === 'put' && op.key.startsWith('todo/') ? [op.value as JSONObject] : [],
    );
    return found.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
  };
  const stored = async () => (await database.pool.query('select id from todo order by id')).rows.map(({ id }) => id);

  it('passes the probe', () => probe(serving.url, lists));

  it('sends rows as their types declare', async () => {
    const dueAt = '2030-01-31T12:00:00.000Z';
    await call('todo.create', { id: 'a', listId: list, title: 'A', dueAt, price: '12.50' });
    await call('todo.create', { id: 'b', listId: list, title: 'B' });
    const a = { id: 'a', listId: list, title: 'A', done: false, dueAt: expect.any(String), price: 12.5, visits: 0 };
    const found = await todos();
    expect(found).toEqual([a, { ...a, id: 'b', title: 'B', dueAt: null, price: null }]);
    expect(new Date(found[0]!.dueAt as string).toISOString()).toBe(dueAt);
    await database.pool.query(`update todo set visits = 9007199254740993, price = 9999999999.99 where id = 'a'`);
    await call('todo.visit', { id: 'a' });
    expect((await todos())[0]).toMatchObject({ visits: '9007199254740994', price: 9999999999.99 });
  });

  it("commits a mutation with its ID, and rolls back a failed one with the ORM's transactions", async () => {
    const many = [1, 2, 3, 4, 5, 6].map((i) => ({ id: `many ${i}`, title: 'x' }));
    const answer = await pushed(
      ['todo.create', { id: 'first', listId: list, title: 'x' }],
      ['todo.import', { listId: list, todos: many }],
      ['todo.create', { id: 'first', listId: list, title: 'taken' }],
      ['todo.create', { id: 'other', listId: 'of nobody', title: 'x' }],
      ['todo.create', { id: 'last', listId: list, title: 'x' }],
    );
    expect(answer.status, answer.text).toBe(200);
    expect(await stored()).toEqual(['first', 'last']);
    const { lastMutationIDChanges } = await pull(serving, 'ann', { clientGroupID: list });
    expect(lastMutationIDChanges).toEqual({ [`client of ${list}`]: 5 });
    const answers = [
      await call('todo.import', { listId: list, todos: many }),
      await call('todo.create', { id: 'first', listId: list, title: 'taken' }),
      await call('todo.create', { id: 'other', listId: 'of nobody', title: 'x' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 404]);
    expect(await stored()).toEqual(['first', 'last']);
  });

  it('continues after a failed transaction of the ORM', async () => {
    await call('todo.create', { id: 'b', listId: list, title: 'B' });
    const imported = ['a', 'b', 'c'].map((id) => ({ id, title: 'imported' }));
    expect((await call('todo.import', { listId: list, todos: imported })).status).toBe(200);
    const titles = (await todos()).map(({ id, title }) => [id, title]);
    expect(titles).toEqual([
      ['a', 'imported'],
      ['b', 'B'],
      ['c', 'imported'],
    ]);
  });

  it.each(['call', 'push'])('retries a %s after a conflict', async (way) => {
    await call('todo.create', { id: 'a', listId: list, title: 'A' });
    const other = await database.pool.connect();
    try {
      await other.query(`begin; update todo set visits = 10`);
      const visit = ['todo.visit', { id: 'a' }] as const;
      const visited = way === 'call' ? call(...visit) : pushed([...visit]);
      // Its snapshot does not show the next commit.
      await vi.waitFor(async () => expect(await waiting(database)).toBe(1), { timeout: 10_000 });
      await other.query('commit');
      expect((await visited).status).toBe(200);
      expect(await todos()).toMatchObject([{ visits: 11 }]);
    } finally {
      other.release(true);
    }
  });

  it('stops cleanly', async () => {
    await endsCleanly(serving);
    hasEnded = true;
  });
});

async function waiting({ pool }: TestDatabase): Promise<number> {
  const { rowCount } = await pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount!;
}
