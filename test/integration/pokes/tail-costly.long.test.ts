/** What it takes long to ask about holds up nothing else, and is told of in the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { Statement } from '../../../src/db/database.js';
import { quick } from '../../../src/pokes/plan-pokes.js';
import { patienceMs } from '../../../src/pokes/postponed.js';
import { gate } from '../pulls/watched.js';
import { ddl, isQuestion, looksOf, useTailed, views } from './tailed.js';

const tailed = useTailed(ddl, views);
const write = (text: string) => tailed.database.pool.query(text);
const bulk = `insert into audit (entry) select 'x' from generate_series(1, ${quick.rows + 1})`;

const isOfAudit = (statement: Statement) => isQuestion(statement) && statement.text.includes('entry <>');

let free = () => {};
afterEach(() => free());

/** Lets no such statement be sent before it is opened. */
function hold(isHeld: (statement: Statement) => boolean) {
  const { opened, open } = gate();
  free = open;
  tailed.before = async (statement) => {
    if (isHeld(statement)) await opened;
  };
  return { open };
}

/** A bulk change that is being asked about until it is opened. */
async function beginBulk() {
  const held = hold(isOfAudit);
  await write(bulk);
  await vi.waitFor(() => expect(tailed.sent.some(isOfAudit)).toBe(true));
  return held;
}

async function listen() {
  const { listen } = tailed.start();
  // Each of them brings tables that the tail has not read yet, and then views are compiled anew for those who are there.
  for (const user of ['ann', 'ben', 'auditor']) (await listen(user)).leave();
  const [ann, ben, auditor] = [await listen('ann'), await listen('ben'), await listen('auditor')];
  return { ann: ann.poke, ben: ben.poke, auditor: auditor.poke };
}

it('a bulk change is asked about by itself, while others are told of their changes', async () => {
  const { ann, ben, auditor } = await listen();
  const { open } = await beginBulk();
  for (let i = 1; i <= 3; i++) {
    await write(`insert into item (owner_id) values ('ann')`);
    await vi.waitFor(() => expect(ann).toHaveBeenCalledTimes(i));
  }
  // More of the same waits for its turn.
  await write(`insert into audit (entry) values ('more')`);
  await write(`insert into item (owner_id) values ('ann')`);
  await vi.waitFor(() => expect(ann).toHaveBeenCalledTimes(4));
  expect(tailed.sent.filter(isOfAudit)).toHaveLength(1);
  expect(auditor).not.toHaveBeenCalled();
  open();
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledTimes(2), { timeout: 10_000 });
  expect(ben).not.toHaveBeenCalled();
});

it('a bulk change that nobody sees pokes nobody', async () => {
  const { ann, ben, auditor } = await listen();
  await write(`insert into item (owner_id) select 'nobody' from generate_series(1, ${quick.rows + 1})`);
  // Of each view that reads the table: the item view, and what owners have in place of the audit view.
  await vi.waitFor(() => expect(tailed.sent.filter(isQuestion).length).toBeGreaterThanOrEqual(2), { timeout: 10_000 });
  await write(`insert into audit (entry) values ('y'); insert into item (owner_id) values ('ann')`);
  for (const poke of [ann, auditor]) await vi.waitFor(() => expect(poke).toHaveBeenCalled(), { timeout: 10_000 });
  expect(ben).not.toHaveBeenCalled();
});

/** Locks a table, which questions about it then wait for, when the first question is asked. */
async function lockAtFirstQuestion(table: string) {
  const locker = await tailed.database.pool.connect();
  free = () => locker.release(true);
  let isLocked = false;
  tailed.before = async (statement) => {
    if (isLocked || !isQuestion(statement)) return;
    isLocked = true;
    await locker.query(`begin; lock table ${table} in access exclusive mode`);
  };
}

// What touches fewer rows is asked about first.
it.each([
  ['last', '(1)', `('one'), ('two')`],
  ['first', '(1), (2)', `('three')`],
])(
  'a question that Postgres does not answer in time, asked %s, is put off and then given up: all are poked',
  async (_, items, notes) => {
    const { ann, ben, auditor } = await listen();
    await lockAtFirstQuestion('note');
    await write(`
    begin;
    insert into note values ${notes};
    insert into item (owner_id) select 'ann' from (values ${items}) n;
    commit`);
    await vi.waitFor(() => expect(ann).toHaveBeenCalled(), { timeout: 3_000 });
    expect(auditor).not.toHaveBeenCalled();
    ann.mockClear();
    await write(`insert into item (owner_id) values ('ann')`);
    await vi.waitFor(() => expect(ann).toHaveBeenCalledOnce(), { timeout: 3_000 });
    for (const poke of [ben, auditor]) await vi.waitFor(() => expect(poke).toHaveBeenCalledOnce(), { timeout: 10_000 });
  },
);

it('what has waited too long to be asked about is not asked about: all are poked', async () => {
  const { ann, ben, auditor } = await listen();
  const { open } = await beginBulk();
  await write(`insert into note select 'nobody ' || n from generate_series(1, ${quick.rows + 1}) n`);
  await sleep(patienceMs + 1_000);
  expect(ann).not.toHaveBeenCalled();
  open();
  for (const poke of [ann, ben]) await vi.waitFor(() => expect(poke).toHaveBeenCalledOnce(), { timeout: 10_000 });
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledTimes(2), { timeout: 10_000 });
  expect(tailed.sent.filter((statement) => isQuestion(statement) && statement.text.includes(`'note/'`))).toEqual([]);
});

it('a listener who is seated elsewhere while questions about it wait is told all the same', async () => {
  const { ann, auditor } = await listen();
  const { open } = await beginBulk();
  const before = looksOf(tailed);
  await write(`insert into audit (entry) values ('more')`);
  await vi.waitFor(() => expect(looksOf(tailed)).toBeGreaterThan(before + 2));
  await write('alter table item add column extra text');
  await vi.waitFor(() => expect(ann).toHaveBeenCalled(), { timeout: 10_000 });
  auditor.mockClear();
  open();
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledTimes(2), { timeout: 10_000 });
});

it("a group's confirmation does not wait for answers", async () => {
  const { ann, ben } = await listen();
  const { open } = hold(isQuestion);
  await write(`
    begin;
    insert into tidemark.client_group values ('group of ben', 'ben');
    insert into tidemark.client values ('client', 'group of ben', 1, pg_current_xact_id());
    insert into item (owner_id) values ('ann');
    commit`);
  await vi.waitFor(() => expect(ben).toHaveBeenCalledOnce());
  expect(ann).not.toHaveBeenCalled();
  open();
  await vi.waitFor(() => expect(ann).toHaveBeenCalledOnce());
});
