/** The subscribers that are poked when a mutation is refused, and when the server forgets the refusal. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { pruneRefusals } from '../../../packages/tidemark/src/store/refusals.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { memoryLog } from '../../support/log.js';
import { mutation, pushRequest } from '../writes/push-requests.js';
import { ddl, isAffectedQuery, useNotifiers, views } from './notifying.js';

const fixture = useNotifiers(ddl, views);

let db: Database;
beforeAll(() => {
  db = openPool(fixture.database.url);
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

it('a refusal pokes its client group, and groups of its user and profile that request refusals', async () => {
  const { notifier } = fixture.start();
  const subscribeGroup = async (userID: string, clientGroupID: string, profileID: string, refused?: boolean) => {
    const poke = vi.fn();
    await notifier.subscribe({ userID }, { clientGroupID, profileID, schemaVersion: '', refused }, poke);
    return poke;
  };
  const [own, ownWithRefusals] = [
    await subscribeGroup('ann', 'group', 'p'),
    await subscribeGroup('ann', 'group', 'p', true),
  ];
  const otherWithRefusals = await subscribeGroup('ann', 'other', 'p', true);
  const uninvolved = [
    await subscribeGroup('ann', 'other', 'p'),
    await subscribeGroup('ann', 'another', 'q', true),
    await subscribeGroup('ben', 'third', 'p', true),
  ];
  expect(await refuse(1)).toBeNull();
  await vi.waitFor(() => expect(otherWithRefusals).toHaveBeenCalledTimes(1), { timeout: 10_000 });
  await vi.waitFor(() => expect(own).toHaveBeenCalledTimes(1), { timeout: 10_000 });
  await vi.waitFor(() => expect(ownWithRefusals).toHaveBeenCalledTimes(1), { timeout: 10_000 });

  await fixture.database.pool.query(`update tidemark.refusal set at = '2000-01-01T00:00:00.000Z'`);
  await vi.waitFor(() => expect(otherWithRefusals).toHaveBeenCalledTimes(2), { timeout: 10_000 });
  await pruneRefusals(db);
  await vi.waitFor(() => expect(otherWithRefusals).toHaveBeenCalledTimes(3), { timeout: 10_000 });
  await vi.waitFor(() => expect(ownWithRefusals).toHaveBeenCalledTimes(3), { timeout: 10_000 });
  // There is no need to wait, because one poll pokes all affected subscribers.
  expect(own).toHaveBeenCalledTimes(1);
  for (const poke of uninvolved) expect(poke).not.toHaveBeenCalled();
});

it('no query reads refusals if no subscriber requests them', async () => {
  const { subscribe } = fixture.start();
  const { poke } = await subscribe('ann');
  await refuse(2);
  await pruneRefusals(db);
  await fixture.database.pool.query(`insert into item (owner_id) values ('ann')`);
  await vi.waitFor(() => expect(poke).toHaveBeenCalled(), { timeout: 10_000 });
  expect(fixture.sent.filter(isAffectedQuery).filter(({ text }) => text.includes('refusal'))).toEqual([]);
});
