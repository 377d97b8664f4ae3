/** If a notifier cannot determine exactly which subscribers a change affects, it pokes all candidates and continues. */
import { beforeEach, expect, it, vi } from 'vitest';
import { maxRows } from '../../../packages/tidemark/src/store/polls/observation.js';
import type { LogLine } from '../../support/log.js';
import { ddl, isAffectedQuery, isPoll, type TestSubscriber, useNotifiers, views } from './notifying.js';

const fixture = useNotifiers(ddl, views);
let lines: LogLine[];
let subscribe: (userID: string) => Promise<TestSubscriber['poke']>;

beforeEach(() => {
  const started = fixture.start();
  lines = started.lines;
  subscribe = async (userID) => (await started.subscribe(userID)).poke;
});

const write = (text: string) => fixture.database.pool.query(text);
const insert = (owner: string) => write(`insert into item (owner_id) values ('${owner}')`);

async function expectExact(affected: TestSubscriber['poke'], other: TestSubscriber['poke']): Promise<void> {
  affected.mockClear();
  other.mockClear();
  await insert('ann');
  await vi.waitFor(() => expect(affected).toHaveBeenCalled());
  // Checks immediately: in a retry, waiting for something that is already past must not use up the time.
  expect(affected).toHaveBeenCalledOnce();
  expect(other).not.toHaveBeenCalled();
}

it('a schema change pokes all subscribers to the table, and later changes only those affected', async () => {
  const [ann, ben] = [await subscribe('ann'), await subscribe('ben')];
  await expectExact(ann, ben);
  await write('alter table item add column extra text');
  await insert('ann');
  // The server checks the schema hash once a second.
  await vi.waitFor(() => expect(ben).toHaveBeenCalled(), { timeout: 10_000 });
  await vi.waitFor(() => expectExact(ann, ben), { timeout: 10_000, interval: 200 });
  await expectExact(ann, ben);
});

it('a TRUNCATE pokes all subscribers to the table, and no others', async () => {
  await write(`insert into audit (entry) values ('x')`);
  const [ann, ben, auditor] = [await subscribe('ann'), await subscribe('ben'), await subscribe('auditor')];
  await write('truncate audit');
  await vi.waitFor(() => expect(auditor).toHaveBeenCalled());
  for (const poke of [ann, ben]) expect(poke).not.toHaveBeenCalled();
});

it('a TRUNCATE after more changes than are counted pokes all subscribers to the table', async () => {
  const [ann, auditor] = [await subscribe('ann'), await subscribe('auditor')];
  fixture.before = async (statement) => {
    if (isPoll(statement)) throw new Error('later');
  };
  await write(`insert into audit (entry) select 'x' from generate_series(1, ${maxRows})`);
  await write('truncate audit');
  fixture.before = async () => {};
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledOnce(), { timeout: 5_000 });
  expect(ann).not.toHaveBeenCalled();
});

it('a failed query for affected cohorts pokes all its subscribers', async () => {
  const [ann, ben, auditor] = [await subscribe('ann'), await subscribe('ben'), await subscribe('auditor')];
  fixture.before = async (statement) => {
    if (isAffectedQuery(statement)) throw new Error('refused');
  };
  await insert('ann');
  await vi.waitFor(() => expect(ben).toHaveBeenCalledOnce());
  expect(ann).toHaveBeenCalledOnce();
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(line).toMatchObject({
      level: 'warn',
      message: 'Cannot determine which clients a change affects; all clients that see the view are poked',
      fields: { view: expect.any(String), error: { message: 'refused' } },
    });
  }
  fixture.before = async () => {};
  await expectExact(ann, ben);
  expect(auditor.mock.calls.length).toBeLessThanOrEqual(1);
});

it('a view whose query fails causes no extra pokes for other views', async () => {
  const [ann, ben, auditor] = [await subscribe('ann'), await subscribe('ben'), await subscribe('auditor')];
  fixture.before = async (statement) => {
    if (isAffectedQuery(statement) && statement.text.includes('entry <>')) throw new Error('refused');
  };
  await write(`begin; insert into item (owner_id) values ('ann'); insert into audit (entry) values ('x'); commit`);
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledOnce());
  await vi.waitFor(() => expect(ann).toHaveBeenCalledOnce());
  expect(ben).not.toHaveBeenCalled();
  expect(lines).toMatchObject([{ fields: { view: 'audit' } }]);
});
