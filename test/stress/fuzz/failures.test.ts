/** Errors of the generator itself count neither as findings nor as successful runs. */
import { afterAll, expect, it } from 'vitest';
import { Databases } from './database.js';
import { fuzz } from './fuzz.js';
import { Tally } from './tally.js';
import { Writers } from './writers.js';

const databases = new Databases(process.env.TIDEMARK_TEST_CLUSTER!);

afterAll(() => databases.close());

it('the error for a case that cannot run contains its seed', async () => {
  let calls = 0;
  const running = fuzz({
    cluster: 'postgres://nobody@127.0.0.1:1/nowhere',
    version: 18,
    seed: 5,
    shrinkMs: 30_000,
    goesOn: () => calls++ < 1,
  });
  await expect(running).rejects.toThrow('the case of seed 5 cannot be run');
});

it('writers reorder tables, even with tables that have no column to set', async () => {
  const database = await databases.take();
  const client = await database.connect();
  await client.query(`
    create table "g" (a integer generated always as (1) stored);
    create table "none" ();
    create table "two words" (gone integer, b integer);
    alter table "two words" drop gone;
    insert into "g" select from generate_series(1, 3);
    insert into "none" select from generate_series(1, 3);
    insert into "two words" values (1), (2)`);
  await new Writers(database, new Tally()).reorder();
  const { rows } = await client.query('select b from "two words"');
  expect(rows).toEqual([{ b: 2 }, { b: 1 }]);
  await databases.give(database);
});
