/** Who is poked when a mutation is refused, and when that is forgotten. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { defineMutator, defineMutators } from '../../../src/registry/mutators.js';
import { pruneRefusals } from '../../../src/store/refusals.js';
import { createPush } from '../../../src/writes/push.js';
import { memoryLog } from '../../support/log.js';
import { mutation, pushRequest } from '../writes/push-requests.js';
import { ddl, isQuestion, useTailed, views } from './tailed.js';

const tailed = useTailed(ddl, views);

let db: Database;
beforeAll(() => {
  db = openPool(tailed.database.url);
});
afterAll(() => db.close());

const mutators = defineMutators({
  refuse: defineMutator(() => {
    throw new Error('No');
  }),
});

const refuse = (id: number) =>
  createPush({ db, tx: (client) => client, mutators })(
    { ...pushRequest('group', [mutation(id, 'refuse', null)]), profileID: 'p' },
    { context: { userID: 'ann' }, requestID: '', log: memoryLog().log },
  );

it('the group that sent it is, whether it asks or not, and who else asks about the same user and profile', async () => {
  const { tail } = tailed.start();
  const listen = async (userID: string, clientGroupID: string, profileID: string, refused?: boolean) => {
    const poke = vi.fn();
    await tail.listen({ userID }, { clientGroupID, profileID, schemaVersion: '', refused }, poke);
    return poke;
  };
  const [own, ownAsking] = [await listen('ann', 'group', 'p'), await listen('ann', 'group', 'p', true)];
  const otherAsking = await listen('ann', 'other', 'p', true);
  const uninvolved = [
    await listen('ann', 'other', 'p'),
    await listen('ann', 'another', 'q', true),
    await listen('ben', 'third', 'p', true),
  ];
  expect(await refuse(1)).toBeNull();
  await vi.waitFor(() => expect(otherAsking).toHaveBeenCalledTimes(1), { timeout: 10_000 });
  await vi.waitFor(() => expect(own).toHaveBeenCalledTimes(1), { timeout: 10_000 });
  await vi.waitFor(() => expect(ownAsking).toHaveBeenCalledTimes(1), { timeout: 10_000 });

  await tailed.database.pool.query(`update tidemark.refusal set at = '2000-01-01T00:00:00.000Z'`);
  await vi.waitFor(() => expect(otherAsking).toHaveBeenCalledTimes(2), { timeout: 10_000 });
  await pruneRefusals(db);
  await vi.waitFor(() => expect(otherAsking).toHaveBeenCalledTimes(3), { timeout: 10_000 });
  await vi.waitFor(() => expect(ownAsking).toHaveBeenCalledTimes(3), { timeout: 10_000 });
  // Nothing needs to be waited for: a look pokes all whom it concerns.
  expect(own).toHaveBeenCalledTimes(1);
  for (const poke of uninvolved) expect(poke).not.toHaveBeenCalled();
});

it('if nobody asks, no question is asked about refusals', async () => {
  const { listen } = tailed.start();
  const { poke } = await listen('ann');
  await refuse(2);
  await pruneRefusals(db);
  await tailed.database.pool.query(`insert into item (owner_id) values ('ann')`);
  await vi.waitFor(() => expect(poke).toHaveBeenCalled(), { timeout: 10_000 });
  expect(tailed.sent.filter(isQuestion).filter(({ text }) => text.includes('refusal'))).toEqual([]);
});
