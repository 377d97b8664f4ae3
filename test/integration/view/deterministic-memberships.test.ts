/** NOT IN, which becomes NOT EXISTS where no value can be null. */
import { expect, it } from 'vitest';
import { useTables, written } from './deterministic.js';

const analyze = useTables();

it.each([
  [
    'select id from t where id not in (select a from u)',
    'select id from t where not exists (select 1 from (select a from u) tidemark_s (tidemark_1) where id = tidemark_s.tidemark_1)',
  ],
  [
    'select t.id from t join u on u.t_id = t.id where not (u.b in (select a from u where b = 1))',
    'select t.id from t join u on u.t_id = t.id where not exists (select 1 from (select a from u where b = 1) tidemark_s (tidemark_1) where u.b = tidemark_s.tidemark_1)',
  ],
])('NOT IN becomes NOT EXISTS in: %s', async (text, expected) => {
  expect((await analyze(text)).text).toBe(written(expected));
});

it.each([
  'select id from t where id not in (select t_id from u)',
  'select id from t where x not in (select a from u)',
  'select id from t where id not in (select u.a from t left join u on u.t_id = t.id)',
  'select t.id from t left join u on u.t_id = t.id where u.a not in (select a from u)',
  'select id from t where (id, id) not in (select a, b from u)',
  'select id from t where not id < any (select a from u)',
  'select id from t where id in (select a from u)',
])('other memberships stay as they are: %s', async (text) => {
  expect((await analyze(text)).text).toBe(text);
});
