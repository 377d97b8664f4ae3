/** Changes that the change log once handled incorrectly, one at a time. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Bench } from './bench.js';
import { PullingClient, type Send } from './client.js';
import { loadCode } from './code.js';
import type { Judge } from './judge.js';
import { Random } from './random.js';
import { describeDifference, Report } from './report.js';
import { viewSpecs } from './views.js';

const bench = new Bench(process.env.TIDEMARK_TEST_CLUSTER!);
const report = new Report();
const fill = `
  truncate list, todo, share, node, task, price, event, other.note, counter;
  insert into list values (1, 'ann', 'one'), (2, 'bob', 'two');
  insert into todo select gen_random_uuid(), 1 + n % 2, 'todo', n % 3 = 0, n % 4 from generate_series(1, 20) n;
  insert into node values (1, null, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 3, 'd');
  insert into task values (1, 'ann', 'open'), (2, 'ann', 'open');
  insert into price values (2.5, 'cheap');
  insert into other.note values (1, 'ann', 'first'), (2, 'ann', 'second');`;

let url: string;
let send: Send;
let judge: Judge;
let client: PullingClient;

beforeAll(async () => {
  url = await bench.createApplication();
  const random = new Random(1);
  send = await bench.startNodes({ code: await loadCode(), url, specs: viewSpecs, report, random });
  judge = await bench.createJudge(url, viewSpecs, report, true);
}, 200_000);

afterAll(() => bench.close());

beforeEach(async () => {
  const writer = await bench.connect(url);
  await writer.query(fill);
  client = new PullingClient({ userID: 'ann', clientGroupID: 'group', send, judge, report });
  await client.pull();
});

const differences = () => report.differences.splice(0).map(describeDifference);

const insertsAfterDeleting = `
  create or replace function pg_temp.delete_first() returns trigger language plpgsql as $$
  begin
    delete from other.note where id = new.id;
    return new;
  end $$;
  create trigger delete_first before insert on other.note for each row execute function pg_temp.delete_first();`;

const changes: readonly (readonly [name: string, ...transactions: string[]])[] = [
  ['a foreign key that cascades a key within its table', 'update node set id = id + 100', 'delete from node'],
  [
    'a row that its own trigger changes again',
    `update task set state = 'done', o = 5`,
    'delete from task where id = 1',
  ],
  [
    'a row whose final state is that between a change and its trigger',
    'update task set o = 7',
    'update task set o = 6',
  ],
  [
    'a row that one statement deletes and inserts in reverse order',
    `with gone as (delete from price returning *)
     insert into price select 2.5, 'new' where exists (select from gone)`,
    'delete from price',
  ],
  ['a key written in another format', 'update price set amount = 2.50', 'delete from price'],
  [
    'a key that two rows have until the commit',
    `begin; set constraints other.note_pkey deferred; update other.note set id = 2 where body = 'first';
     delete from other.note where body = 'second'; commit`,
    'delete from other.note',
  ],
  ['keys that are swapped', 'update other.note set id = 3 - id', 'update other.note set id = id + 1'],
  [
    'a trigger that deletes a row to make an insert possible',
    `begin; ${insertsAfterDeleting} insert into other.note values (2, 'ann', 'new'); drop trigger delete_first on other.note; commit`,
    'delete from other.note where id = 2',
  ],
];

it.each(changes)('a client stays correct after %s', async (_, ...transactions) => {
  const writer = await bench.connect(url);
  for (const transaction of transactions) {
    await writer.query(transaction);
    await client.pull();
    expect(differences(), transaction).toEqual([]);
  }
  // One pull for all changes.
  const late = new PullingClient({ userID: 'ann', clientGroupID: 'late', send, judge, report });
  await writer.query(fill);
  await late.pull();
  for (const transaction of transactions) await writer.query(transaction);
  await late.pull();
  expect(differences()).toEqual([]);
});

it.each([['a delta'], ['a first pull']])('a client stays correct after %s that waits for a TRUNCATE', async (kind) => {
  const writer = await bench.connect(url);
  if (kind === 'a first pull') client.restart('another group');
  else await writer.query(`update todo set title = 'changed'; update list set name = 'changed'`);
  await writer.query(`begin; truncate todo; update list set name = 'after the truncate'`);
  const pull = client.pull();
  await untilWaiting();
  await writer.query('commit');
  await pull;
  await client.pull();
  expect(differences()).toEqual([]);
});

async function untilWaiting(): Promise<void> {
  const watcher = await bench.connect(url);
  for (let waiting = 0; waiting === 0; ) {
    const { rows } = await watcher.query<{ n: number }>(
      `select count(*)::int as n from pg_locks l join pg_database d on d.oid = l.database
       where d.datname = current_database() and not granted and mode = 'AccessShareLock'`,
    );
    waiting = rows[0]!.n;
  }
}
