/** Those who ask whom a change concerns have names of their own, which no view's may be taken for. */
import { expect, it, vi } from 'vitest';
import { ddl, useTailed, view } from './tailed.js';

const names = ['b', 'k1', 'key', 'p1', 'r', 'seat', 'value'];
const rowsOf = (name: string) => `select (${name}).id from item ${name} where (${name}).owner_id = $1`;
const numberOf = (name: string) =>
  `select (${name}).owner_id, count(*) from item ${name} where owner_id = $1 group by 1`;
const views = {
  ...Object.fromEntries(names.map((name) => [`rows-${name}`, view('id', () => rowsOf(name))])),
  ...Object.fromEntries(names.map((name) => [`number-${name}`, view('owner_id', () => numberOf(name))])),
};
const tailed = useTailed(ddl, views);

it('a view that calls a row by a name of theirs is asked about exactly', async () => {
  // Fourteen questions that have never been asked take long where the machine is busy.
  const patience = { timeout: 10_000 };
  const tail = tailed.start();
  const [ann, ben] = [await tail.listen('ann'), await tail.listen('ben')];
  await tailed.database.pool.query(`insert into item (owner_id) values ('ann')`);
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledOnce(), patience);
  await tailed.database.pool.query(`update item set id = id + 1 where owner_id = 'ann'`);
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledTimes(2), patience);
  expect(ben.poke).not.toHaveBeenCalled();
  expect(tail.lines).toEqual([]);
});
