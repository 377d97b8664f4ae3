/** Every query that parses can be written back, whatever its syntax. */
import { beforeAll, describe, expect, it } from 'vitest';
import { deparseSelect, parserLoaded, parseSelect } from './syntax.js';

beforeAll(() => parserLoaded);

describe('deparseSelect', () => {
  it.each([
    'select * from a join b using (id) as "both 2"',
    'select * from (a join b using (id, "a b") as "u v") as "j k" ("c d", e)',
    `select x::bit varying, x::varbit, bit varying '1', bit '1', x::bit(3)[], x::bit varying(3)`,
    'select sum(a) over w, sum(b) over (w), sum(c) over "w x" from t window "w x" as (), w as (order by a), w2 as ("w x")',
    'select sum(a) over ("w x" order by a) from t window "w x" as (partition by b)',
    'select array_agg(a order by b using <, c using operator("S s".>) nulls first) from t',
    'select f(x => 1, "y z" => 2)',
    'select a operator("S s".-) b, a operator("S s".@@) any (b), a operator(pg_catalog.+) b',
    'select a not between symmetric b and (c and d), a between (b < c) and (d is null), (not a) between b and c, (a like b) between c and d',
    'select (a > b) = any (select c), (a is null) in (values (true)), (not a) < all (select b)',
    'select position((a collate "C") in (b || c)), (a + b) at local, a at local = b, (a || b) at time zone (c || d), (a is null) at time zone b, extract(day from a - b)',
    `select trim(x), trim(both 'a' from x), normalize(x), normalize(x, nfc), x is normalized`,
    'select x::"values"."random"[], x::"s t"."my type"(3)',
    'select (a > b) <> all (array[c = d]), (not a) in (b, c), (a is null) in (b like c), a like (b like c), a is distinct from (b = c)',
    'select a < (b is json), (b is json array) is null, not (b is json), (b is json object with unique keys)::int',
    'select (a or b) is null, (a is distinct from b) is true, (not a) is null, not a is null',
    `select json_value(x, '$.a' passing y as z, 3 as "Q r" returning int default 3 on empty error on error)`,
    `select json_query(x format json, '$.a' returning text format json encoding utf8 with conditional wrapper keep quotes empty array on error)`,
    `select json_query(x, '$' with unconditional wrapper omit quotes null on empty), json_query(x, '$' without wrapper)`,
    `select json_exists(x, '$.a' unknown on error), json_exists(x, '$.a' passing 1 as b)`,
    `select * from json_table(x, '$[*]' as p passing 3 as y columns (id for ordinality, a text path '$.a' default 'x' on empty,
      e bool exists path '$.e' true on error, nested path '$.n' as "n m" columns (b int, nested path '$.o' columns (c int)),
      "B" text format json path '$' with wrapper keep quotes)) as "j t" (a, b)`,
    `select * from t, lateral json_table(x, '$[*]' columns (a int) error on error)`,
    `select * from xmltable('/a' passing x columns id int path '@id' default 3 not null, "B c" text, o for ordinality) as "x y" (a)`,
    `select * from t, lateral xmltable('/a' passing x columns a int)`,
    `select * from xmltable(xmlnamespaces('http://x' as x, default 'http://y'), '/a' passing x columns id int)`,
  ])('writes back %s', (text) => {
    const select = parseSelect(text);
    expect(() => deparseSelect(select)).not.toThrow();
  });
});

it.each([
  'SELECT f(a > b, c IS NULL), (t).x, a IN (1, 2) FROM t WHERE (a OR b) AND c',
  'SELECT a::text, x::int, CAST(y AS timestamp(3) with time zone), CAST(z AS numeric(3, 2)), a OPERATOR("o".+) b',
  'SELECT count(*) FROM t GROUP BY a ORDER BY b DESC NULLS LAST LIMIT 2 OFFSET 1',
])('deparseSelect returns the same text for %s', (text) => {
  expect(deparseSelect(parseSelect(text))).toBe(text);
});
