/** If the change log does not hold everything since the previous poll, all subscribers are poked. */
import { expect, it, vi } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { ddl, isPoll, useNotifiers, views } from './notifying.js';

const fixture = useNotifiers(ddl, views);
const insert = (owner: string) => fixture.database.pool.query('insert into item (owner_id) values ($1)', [owner]);

async function subscribeBoth() {
  const { subscribe } = fixture.start();
  return [await subscribe('ann'), await subscribe('ben')] as const;
}

async function expectExact([ann, ben]: Awaited<ReturnType<typeof subscribeBoth>>): Promise<void> {
  ann.poke.mockClear();
  ben.poke.mockClear();
  await insert('ann');
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledOnce());
  expect(ben.poke).not.toHaveBeenCalled();
}

it('all subscribers are poked after the notifier was offline for longer than the retention', async () => {
  const subscribers = await subscribeBoth();
  fixture.before = async (statement) => {
    if (isPoll(statement)) throw new Error('unreachable');
  };
  await insert('ann');
  const db = openPool(fixture.database.url, { max: 1 });
  // Transactions in any database of the cluster hold the horizon back.
  await vi.waitFor(
    async () => {
      await prune(db, 0);
      expect((await fixture.database.pool.query('select from tidemark.change')).rowCount).toBe(0);
    },
    { timeout: 20_000 },
  );
  await db.close();
  fixture.before = async () => {};
  for (const { poke } of subscribers) await vi.waitFor(() => expect(poke).toHaveBeenCalledOnce(), { timeout: 10_000 });
  await expectExact(subscribers);
});

it('all subscribers are poked after the operator changes the database ID', async () => {
  const subscribers = await subscribeBoth();
  await fixture.database.pool.query('update tidemark.meta set install_id = gen_random_uuid()');
  for (const { poke } of subscribers) await vi.waitFor(() => expect(poke).toHaveBeenCalledOnce());
  await expectExact(subscribers);
});
