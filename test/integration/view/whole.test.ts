/** Queries that are read as a whole: how they are written, and that they yield the same rows. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wholeSelect } from '../../../packages/tidemark/src/view/compile/whole.js';
import { deparseSelect, parserLoaded, parseSelect } from '../../../packages/tidemark/src/view/parse/syntax.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';

beforeAll(() => parserLoaded);

const normal = (text: string) => deparseSelect(parseSelect(text));

function whole(text: string, isMonotone = true): string | undefined {
  const select = parseSelect(text);
  const found = wholeSelect(select, isMonotone);
  expect(deparseSelect(select)).toBe(normal(text));
  return found && deparseSelect(found);
}

const shares = "select list_id from share where user_id = 'ada'";
const isOwn = "owner_id = 'ada'";
const visible = `select id from list where ${isOwn} or id in (${shares})`;
const split = `select id from list where ${isOwn} union all select id from list where id in (${shares})`;

describe('an OR with an IN', () => {
  it.each([
    ['in a membership test', `select * from todo where list_id in (${visible})`, `select * from todo where list_id in (${split})`],
    ['in the query itself, which returns each row once', `select * from list where ${isOwn} or id in (${shares})`,
      `select * from list where ${isOwn} union all select * from list where id in (${shares}) and (${isOwn}) is not true`],
    ['with an AND, which each arm repeats', `select * from list where (${isOwn} or id in (${shares})) and open`,
      `select * from list where ${isOwn} and open union all select * from list where id in (${shares}) and (${isOwn}) is not true and open`],
    ['with other alternatives, which share an arm', `select id from list where ${isOwn} or open or id in (${shares}) or id in (select 'l3')`,
      `select id from list where ${isOwn} or open union all
       select id from list where id in (${shares}) and (${isOwn} or open) is not true union all
       select id from list where id in (select 'l3') and (${isOwn} or open) is not true and (id in (${shares})) is not true`],
    ['in an arm of a UNION', `select id from todo union select id from list where ${isOwn} or id in (${shares})`,
      `select id from todo union (select id from list where ${isOwn} union all select id from list where id in (${shares}) and (${isOwn}) is not true)`],
    ['in a nested membership test', `select * from todo where list_id in (select id from list where id in (${shares}) or id in (${visible}))`,
      `select * from todo where list_id in (select id from list where id in (${shares}) union all select id from list where id in (${split}))`],
    ['with EXISTS', `select * from list where ${isOwn} or exists (${shares} and list_id = list.id)`,
      `select * from list where ${isOwn} union all select * from list where exists (${shares} and list_id = list.id) and (${isOwn}) is not true`],
    ['within EXISTS', `select * from todo t where exists (select from list l where l.id = t.list_id and (l.${isOwn} or l.id in (${shares})))`,
      `select * from todo t where exists (select from list l where l.id = t.list_id and l.${isOwn}) union all
       select * from todo t where exists (select from list l where l.id = t.list_id and l.id in (${shares}))
         and (exists (select from list l where l.id = t.list_id and l.${isOwn})) is not true`],
    ['only the first of two', `select * from list where (${isOwn} or id in (${shares})) and exists (select from todo where list_id = list.id and (n = 1 or id in (select 't3')))`,
      `select * from list where ${isOwn} and exists (select from todo where list_id = list.id and (n = 1 or id in (select 't3'))) union all
       select * from list where id in (${shares}) and (${isOwn}) is not true and exists (select from todo where list_id = list.id and (n = 1 or id in (select 't3')))`],
    ['over a join', `select t.* from todo t join list l on l.id = t.list_id where l.${isOwn} or l.id in (${shares})`,
      `select t.* from todo t join list l on l.id = t.list_id where l.${isOwn} union all
       select t.* from todo t join list l on l.id = t.list_id where l.id in (${shares}) and (l.${isOwn}) is not true`],
  ])('is split into a UNION ALL of its alternatives: %s', (_, given, expected) => {
    expect(whole(given)).toBe(normal(expected));
  }); // biome-ignore format: pairs

  it('is split only in membership tests if the view is compared', () => {
    const counted = `select list_id, count(*) as n from todo where list_id in (${visible}) group by list_id`;
    expect(whole(counted, false)).toBe(normal(counted.replace(visible, split)));
    expect(whole(`select * from list where ${isOwn} or id in (${shares})`, false)).toBeUndefined();
  });
});

describe('a query whose meaning could change, or which could fail,', () => {
  it.each([
    ['a query without OR', `select * from todo where list_id in (select id from list where ${isOwn})`],
    ['an OR without IN', `select * from list where ${isOwn} or open`],
    ['EXISTS by itself', `select * from list where exists (${shares} and list_id = list.id)`],
    ['NOT EXISTS', `select * from list where open or not exists (${shares} and list_id = list.id)`],
    ['DISTINCT', `select distinct owner_id from list where ${isOwn} or id in (${shares})`],
    ['LIMIT in a membership test', `select * from todo where list_id in (${visible} limit 1)`],
    ['LIMIT of a UNION in a membership test', `select * from todo where list_id in (${visible} union all select 'l3' limit 1)`],
    ['an aggregate in a membership test', `select * from todo where list_id in (select max(id) from list where ${isOwn} or id in (${shares}))`],
    ['a cast, which may fail for other rows', `select * from list where ${isOwn} or id::uuid in (select '7'::uuid)`],
    ['a function', `select * from list where ${isOwn} or lower(id) in (${shares})`],
    ['a division in the subquery', `select * from list where open or sort in (select 1 / n from share)`],
    ['more alternatives than four', `select id from list where id in (select 'a') or id in (select 'b') or id in (select 'c') or id in (select 'd') or id in (select 'e')`],
  ])('is not split: %s', (_, text) => {
    expect(whole(text)).toBeUndefined();
  }); // biome-ignore format: pairs
});

it('a split query does not grow without limit', () => {
  let nested = shares;
  for (let depth = 0; depth < 12; depth++) {
    nested = `select id from list where open or id in (${nested}) or id in (${nested.length > 2000 ? shares : nested})`;
  }
  expect(whole(`select * from todo where list_id in (${nested})`)!.length).toBeLessThan(100 * nested.length);
});

describe('a split query', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.pool.query(`
      create table list (id text primary key, owner_id text, open boolean, parent_id text);
      create table share (list_id text, user_id text, primary key (list_id, user_id));
      create table todo (id text primary key, list_id text, n int);
      insert into list select 'l' || n, (array['ada', 'bob', null])[1 + n % 3], (array[true, false, null])[1 + n % 5 % 3],
        nullif('l' || n / 2, 'l' || n) from generate_series(0, 59) n;
      insert into share select 'l' || n, (array['ada', 'bob'])[1 + n % 2] from generate_series(0, 80, 3) n;
      insert into todo select 't' || n, nullif('l' || n % 70, 'l7'), n from generate_series(0, 400) n`);
  });
  afterAll(() => database.drop());

  const rowsOf = async (text: string) => {
    const { rows } = await database.pool.query<{ row: string }>(`select v::text as row from (${text}) v order by 1`);
    return rows.map(({ row }) => row);
  };

  const nullable = "select parent_id from list where open or id in (select list_id from share where user_id = 'bob')";
  it.each([
    `select * from list where ${isOwn} or id in (${shares})`,
    `select * from list where ${isOwn} or open or id in (${shares}) or parent_id in (${shares})`,
    `select * from todo where list_id in (${visible})`,
    `select * from todo where list_id in (${visible}) or list_id in (select 'l3') or n = 5`,
    `select id, list_id not in (${visible}) as hidden from todo`,
    `select id, list_id in (${nullable}) as is_there from todo`,
    `select * from todo where (list_id not in (${nullable})) is null`,
    `select t.id, l.owner_id from todo t join list l on l.id = t.list_id where l.${isOwn} or t.list_id in (${shares}) or l.parent_id in (${visible})`,
    `select * from list where ${isOwn} or exists (${shares} and list_id = list.id) or open`,
    `select * from todo t where exists (select 1 from list l where l.id = t.list_id and (l.${isOwn} or l.id in (${shares}) or open))`,
    `select * from todo t where n in (1, 2) or exists (select from list l where l.id = t.list_id and (l.open or exists (${shares} and list_id = l.id)))`,
    `select owner_id from list where open or id in (${shares}) union select list_id from todo where n < 9 or list_id in (${shares})`,
    `select owner_id, open from list where (open, id) in (select true, list_id from share) or open is null`,
  ])('returns the same rows: %s', async (text) => {
    const expected = await rowsOf(text);
    expect(expected.length).toBeGreaterThan(0);
    const written = whole(text) ?? whole(text, false);
    expect(written).toBeDefined();
    expect(await rowsOf(written!)).toEqual(expected);
  });

  /** Conditions on a row of `list`, with a different alias at each depth, because EXISTS refers to the outer ones. */
  const conditionOf = (depth: number): fc.Arbitrary<string> => {
    const l = `l${depth}`;
    const plain = fc.constantFrom(
      `${l}.owner_id = 'ada'`,
      `${l}.open`,
      `${l}.parent_id in ('l1', 'l2')`,
      `${l}.id > 'l3'`,
    );
    const shared = fc.constantFrom(
      `${l}.id in (select list_id from share where user_id = 'bob')`,
      `${l}.parent_id in (select list_id from share)`,
      `exists (select from share s where s.list_id = ${l}.id and s.user_id = ${l}.owner_id)`,
    );
    if (depth === 2) return fc.oneof(plain, shared);
    const inner = conditionOf(depth + 1);
    const from = `from list l${depth + 1} where`;
    const nested = fc.oneof(
      inner.map((c) => `${l}.parent_id in (select id ${from} ${c})`),
      inner.map((c) => `${l}.id in (select parent_id ${from} ${c})`),
      inner.map((c) => `exists (select 1 ${from} l${depth + 1}.parent_id = ${l}.id and (${c}))`),
    );
    const joined = fc.tuple(
      fc.array(fc.oneof(plain, shared, nested), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(' or ', ' and '),
    );
    const groups = fc.array(
      joined.map(([parts, by]) => `(${parts.join(by)})`),
      { minLength: 1, maxLength: 2 },
    );
    return fc.tuple(groups, fc.constantFrom(' or ', ' and ', ' and not ')).map(([parts, by]) => parts.join(by));
  };

  it('returns the same rows for random conditions', async () => {
    let split = 0;
    const query = fc
      .tuple(conditionOf(0), fc.constantFrom('l0.*', 'l0.owner_id', 't.id, l0.open'))
      .map(
        ([condition, columns]) =>
          `select ${columns} from list l0 ${columns.startsWith('t') ? 'join todo t on t.list_id = l0.id' : ''} where ${condition}`,
      );
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const written = whole(text);
        if (written === undefined) return;
        split++;
        expect(await rowsOf(written)).toEqual(await rowsOf(text));
      }),
      { seed: 14, numRuns: 150 },
    );
    expect(split).toBeGreaterThan(40);
  });
});
