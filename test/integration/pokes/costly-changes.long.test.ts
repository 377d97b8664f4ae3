/** Expensive statements delay nothing else, and their subscribers are poked in the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { Statement } from '../../../packages/tidemark/src/db/database.js';
import { quick } from '../../../packages/tidemark/src/pokes/plan-pokes.js';
import { maxWaitMs } from '../../../packages/tidemark/src/pokes/postponed-views.js';
import { gate } from '../pulls/watched.js';
import { ddl, isAffectedQuery, pollCount, useNotifiers, views } from './notifying.js';

const fixture = useNotifiers(ddl, views);
const write = (text: string) => fixture.database.pool.query(text);
const bulk = `insert into audit (entry) select 'x' from generate_series(1, ${quick.rows + 1})`;

const isOfAudit = (statement: Statement) => isAffectedQuery(statement) && statement.text.includes('entry <>');

let free = () => {};
afterEach(() => free());

/** Holds back matching statements until it is opened. */
function hold(isHeld: (statement: Statement) => boolean) {
  const { opened, open } = gate();
  free = open;
  fixture.before = async (statement) => {
    if (isHeld(statement)) await opened;
  };
  return { open };
}

/** A bulk change whose statement for affected cohorts is held back until it is opened. */
async function beginBulk() {
  const hook = hold(isOfAudit);
  await write(bulk);
  await vi.waitFor(() => expect(fixture.sent.some(isOfAudit)).toBe(true));
  return hook;
}

async function subscribeAll() {
  const { subscribe } = fixture.start();
  // Each of them adds tables that the notifier has not read yet, which recompiles the views of present subscribers.
  for (const user of ['ann', 'ben', 'auditor']) (await subscribe(user)).unsubscribe();
  const [ann, ben, auditor] = [await subscribe('ann'), await subscribe('ben'), await subscribe('auditor')];
  return { ann: ann.poke, ben: ben.poke, auditor: auditor.poke };
}

it('a bulk change is queried separately, and does not delay pokes for other changes', async () => {
  const { ann, ben, auditor } = await subscribeAll();
  const { open } = await beginBulk();
  for (let i = 1; i <= 3; i++) {
    await write(`insert into item (owner_id) values ('ann')`);
    await vi.waitFor(() => expect(ann).toHaveBeenCalledTimes(i));
  }
  // Another change of that table waits for its turn.
  await write(`insert into audit (entry) values ('more')`);
  await write(`insert into item (owner_id) values ('ann')`);
  await vi.waitFor(() => expect(ann).toHaveBeenCalledTimes(4));
  expect(fixture.sent.filter(isOfAudit)).toHaveLength(1);
  expect(auditor).not.toHaveBeenCalled();
  open();
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledTimes(2), { timeout: 10_000 });
  expect(ben).not.toHaveBeenCalled();
});

it('a bulk change that no subscriber sees causes no pokes', async () => {
  const { ann, ben, auditor } = await subscribeAll();
  await write(`insert into item (owner_id) select 'nobody' from generate_series(1, ${quick.rows + 1})`);
  // One statement for each view that reads the table: the item view, and the owners' replacement of the audit view.
  await vi.waitFor(() => expect(fixture.sent.filter(isAffectedQuery).length).toBeGreaterThanOrEqual(2), {
    timeout: 10_000,
  });
  await write(`insert into audit (entry) values ('y'); insert into item (owner_id) values ('ann')`);
  for (const poke of [ann, auditor]) await vi.waitFor(() => expect(poke).toHaveBeenCalled(), { timeout: 10_000 });
  expect(ben).not.toHaveBeenCalled();
});

/** Locks a table when the first statement for affected cohorts begins, so that statements for this table wait. */
async function lockAtFirstQuery(table: string) {
  const locker = await fixture.database.pool.connect();
  free = () => locker.release(true);
  let isLocked = false;
  fixture.before = async (statement) => {
    if (isLocked || !isAffectedQuery(statement)) return;
    isLocked = true;
    await locker.query(`begin; lock table ${table} in access exclusive mode`);
  };
}

// Changes that touch fewer rows come first.
it.each([
  ['last', '(1)', `('one'), ('two')`],
  ['first', '(1), (2)', `('three')`],
])(
  'if the %s query times out, it is postponed, then abandoned, and all its subscribers are poked',
  async (_, items, notes) => {
    const { ann, ben, auditor } = await subscribeAll();
    await lockAtFirstQuery('note');
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

it('a change that has waited too long for its query pokes all subscribers without the query', async () => {
  const { ann, ben, auditor } = await subscribeAll();
  const { open } = await beginBulk();
  await write(`insert into note select 'nobody ' || n from generate_series(1, ${quick.rows + 1}) n`);
  await sleep(maxWaitMs + 1_000);
  expect(ann).not.toHaveBeenCalled();
  open();
  for (const poke of [ann, ben]) await vi.waitFor(() => expect(poke).toHaveBeenCalledOnce(), { timeout: 10_000 });
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledTimes(2), { timeout: 10_000 });
  expect(fixture.sent.filter((statement) => isAffectedQuery(statement) && statement.text.includes(`'note/'`))).toEqual(
    [],
  );
});

it('a subscriber that moves to another cohort while a query about it waits is still poked', async () => {
  const { ann, auditor } = await subscribeAll();
  const { open } = await beginBulk();
  const before = pollCount(fixture);
  await write(`insert into audit (entry) values ('more')`);
  await vi.waitFor(() => expect(pollCount(fixture)).toBeGreaterThan(before + 2));
  await write('alter table item add column extra text');
  await vi.waitFor(() => expect(ann).toHaveBeenCalled(), { timeout: 10_000 });
  auditor.mockClear();
  open();
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledTimes(2), { timeout: 10_000 });
});

it("a client group's confirmation does not wait for queries", async () => {
  const { ann, ben } = await subscribeAll();
  const { open } = hold(isAffectedQuery);
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
