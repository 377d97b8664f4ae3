/** Where the change log does not hold all that has happened since the last look, everybody is poked. */
import { expect, it, vi } from 'vitest';
import { openPool } from '../../../src/db/pg.js';
import { prune } from '../../../src/store/retention.js';
import { ddl, isReading, useTailed, views } from './tailed.js';

const tailed = useTailed(ddl, views);
const insert = (owner: string) => tailed.database.pool.query('insert into item (owner_id) values ($1)', [owner]);

async function listen() {
  const { listen } = tailed.start();
  return [await listen('ann'), await listen('ben')] as const;
}

async function expectExact([ann, ben]: Awaited<ReturnType<typeof listen>>): Promise<void> {
  ann.poke.mockClear();
  ben.poke.mockClear();
  await insert('ann');
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledOnce());
  expect(ben.poke).not.toHaveBeenCalled();
}

it('a tail that was cut off beyond the retention', async () => {
  const listening = await listen();
  tailed.before = async (statement) => {
    if (isReading(statement)) throw new Error('unreachable');
  };
  await insert('ann');
  const db = openPool(tailed.database.url, { max: 1 });
  // Transactions of others, in whatever database, hold the horizon back.
  await vi.waitFor(
    async () => {
      await prune(db, 0);
      expect((await tailed.database.pool.query('select from tidemark.change')).rowCount).toBe(0);
    },
    { timeout: 20_000 },
  );
  await db.close();
  tailed.before = async () => {};
  for (const { poke } of listening) await vi.waitFor(() => expect(poke).toHaveBeenCalledOnce(), { timeout: 10_000 });
  await expectExact(listening);
});

it('another history of the database, as the operator says', async () => {
  const listening = await listen();
  await tailed.database.pool.query('update tidemark.meta set install_id = gen_random_uuid()');
  for (const { poke } of listening) await vi.waitFor(() => expect(poke).toHaveBeenCalledOnce());
  await expectExact(listening);
});
