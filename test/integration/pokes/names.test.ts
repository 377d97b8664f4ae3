/** Names in statements for affected cohorts do not collide with the names in a view. */
import { expect, it, vi } from 'vitest';
import { ddl, useNotifiers, view } from './notifying.js';

const names = ['b', 'k1', 'key', 'p1', 'r', 'seat', 'value'];
const rowsOf = (name: string) => `select (${name}).id from item ${name} where (${name}).owner_id = $1`;
const numberOf = (name: string) =>
  `select (${name}).owner_id, count(*) from item ${name} where owner_id = $1 group by 1`;
const views = {
  ...Object.fromEntries(names.map((name) => [`rows-${name}`, view('id', () => rowsOf(name))])),
  ...Object.fromEntries(names.map((name) => [`number-${name}`, view('owner_id', () => numberOf(name))])),
};
const fixture = useNotifiers(ddl, views);

it('exactly the affected subscribers are poked if views use the names of the statements', async () => {
  // On a busy machine, fourteen new statements take long.
  const options = { timeout: 10_000 };
  const { subscribe, lines } = fixture.start();
  const [ann, ben] = [await subscribe('ann'), await subscribe('ben')];
  await fixture.database.pool.query(`insert into item (owner_id) values ('ann')`);
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledOnce(), options);
  await fixture.database.pool.query(`update item set id = id + 1 where owner_id = 'ann'`);
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledTimes(2), options);
  expect(ben.poke).not.toHaveBeenCalled();
  expect(lines).toEqual([]);
});
