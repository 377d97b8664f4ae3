/** Where a tail cannot tell exactly whom a change concerns, it pokes all whom it may concern, and goes on. */
import { beforeEach, expect, it, vi } from 'vitest';
import { mostRows } from '../../../src/store/header.js';
import type { LogLine } from '../../support/log.js';
import { ddl, isQuestion, isReading, type Listening, useTailed, views } from './tailed.js';

const tailed = useTailed(ddl, views);
let lines: LogLine[];
let listen: (userID: string) => Promise<Listening['poke']>;

beforeEach(() => {
  const tail = tailed.start();
  lines = tail.lines;
  listen = async (userID) => (await tail.listen(userID)).poke;
});

const write = (text: string) => tailed.database.pool.query(text);
const insert = (owner: string) => write(`insert into item (owner_id) values ('${owner}')`);

async function expectExact(concerned: Listening['poke'], other: Listening['poke']): Promise<void> {
  concerned.mockClear();
  other.mockClear();
  await insert('ann');
  await vi.waitFor(() => expect(concerned).toHaveBeenCalled());
  // At once: if this is tried again, waiting for what is past already must not use up the time.
  expect(concerned).toHaveBeenCalledOnce();
  expect(other).not.toHaveBeenCalled();
}

it('after a change of a table all who see it are poked, and then again exactly those concerned', async () => {
  const [ann, ben] = [await listen('ann'), await listen('ben')];
  await expectExact(ann, ben);
  await write('alter table item add column extra text');
  await insert('ann');
  // The shape is looked at once a second.
  await vi.waitFor(() => expect(ben).toHaveBeenCalled(), { timeout: 10_000 });
  await vi.waitFor(() => expectExact(ann, ben), { timeout: 10_000, interval: 200 });
  await expectExact(ann, ben);
});

it('a TRUNCATE pokes all who see the table, and nobody else', async () => {
  await write(`insert into audit (entry) values ('x')`);
  const [ann, ben, auditor] = [await listen('ann'), await listen('ben'), await listen('auditor')];
  await write('truncate audit');
  await vi.waitFor(() => expect(auditor).toHaveBeenCalled());
  for (const poke of [ann, ben]) expect(poke).not.toHaveBeenCalled();
});

it('a TRUNCATE behind more changes than are counted pokes all who see the table', async () => {
  const [ann, auditor] = [await listen('ann'), await listen('auditor')];
  tailed.before = async (statement) => {
    if (isReading(statement)) throw new Error('later');
  };
  await write(`insert into audit (entry) select 'x' from generate_series(1, ${mostRows})`);
  await write('truncate audit');
  tailed.before = async () => {};
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledOnce(), { timeout: 5_000 });
  expect(ann).not.toHaveBeenCalled();
});

it('a question that fails pokes all who were asked about', async () => {
  const [ann, ben, auditor] = [await listen('ann'), await listen('ben'), await listen('auditor')];
  tailed.before = async (statement) => {
    if (isQuestion(statement)) throw new Error('refused');
  };
  await insert('ann');
  await vi.waitFor(() => expect(ben).toHaveBeenCalledOnce());
  expect(ann).toHaveBeenCalledOnce();
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(line).toMatchObject({
      level: 'warn',
      message: 'Cannot tell which clients a change affects; all clients that see the view are poked',
      fields: { view: expect.any(String), error: { message: 'refused' } },
    });
  }
  tailed.before = async () => {};
  await expectExact(ann, ben);
  expect(auditor.mock.calls.length).toBeLessThanOrEqual(1);
});

it('a view that cannot be asked about costs the others nothing', async () => {
  const [ann, ben, auditor] = [await listen('ann'), await listen('ben'), await listen('auditor')];
  tailed.before = async (statement) => {
    if (isQuestion(statement) && statement.text.includes('entry <>')) throw new Error('refused');
  };
  await write(`begin; insert into item (owner_id) values ('ann'); insert into audit (entry) values ('x'); commit`);
  await vi.waitFor(() => expect(auditor).toHaveBeenCalledOnce());
  await vi.waitFor(() => expect(ann).toHaveBeenCalledOnce());
  expect(ben).not.toHaveBeenCalled();
  expect(lines).toMatchObject([{ fields: { view: 'audit' } }]);
});
