/** What becomes of a table's layout, and the fields of row literals. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/migrate.js';
import { alterationOf } from '../../../src/store/layouts/alteration.js';
import { type Layout, type LayoutColumn, type LayoutMember, stepBetween } from '../../../src/store/layouts/layout.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';

const column = (place: number, other: Partial<LayoutColumn> = {}): LayoutColumn => ({
  place,
  column: place,
  type: '25/-1',
  typeShape: 'none',
  version: '700',
  isFirm: false,
  isDomain: false,
  ...other,
});

const member = (columns: readonly LayoutColumn[], other: Partial<LayoutMember> = {}): LayoutMember => ({
  oid: 1,
  kind: 'r',
  identity: '',
  emptyAsOf: null,
  width: 3,
  file: 1,
  columns,
  ...other,
});

const three = member([column(1), column(2), column(3)]);
const renamed = column(3, { version: '800' });
const firm = column(3, { isFirm: true });

describe('from one layout to the next', () => {
  it.each<[name: string, before: LayoutMember, after: LayoutMember, step: 1 | 0 | -1 | null]>([
    ['nothing changes', three, three, 0],
    ['columns are added', three, { ...three, width: 5, columns: [...three.columns, column(4), column(5)] }, 1],
    [
      'one is added that writes the table anew',
      three,
      { ...three, width: 4, file: 2, columns: [...three.columns, column(4)] },
      1,
    ],
    [
      'one is added, and another came and went',
      three,
      { ...three, width: 5, columns: [...three.columns, column(5)] },
      null,
    ],
    ['one came and went', three, { ...three, width: 4 }, null],
    ['columns are dropped', three, member([column(2)]), -1],
    ['one is dropped, and another came and went', three, member([column(1), column(2)], { width: 4 }), null],
    ['one is dropped and one is added', three, member([column(1), column(2), column(4)], { width: 4 }), null],
    ['one changes its type', three, member([column(1), column(2), column(3, { version: '800', type: '23/-1' })]), null],
    ['one gets another name', three, member([column(1), column(2), renamed]), null],
    ['one of a firm type does', member([column(1), firm]), member([column(1), { ...firm, version: '800' }]), 0],
    [
      'one of a firm type does, and the table is written anew',
      member([column(1), firm]),
      member([column(1), { ...firm, version: '800' }], { file: 2 }),
      null,
    ],
    [
      'one of a firm type gets another type',
      member([column(1), firm]),
      member([column(1), { ...firm, version: '800', type: '1043/-1' }]),
      null,
    ],
  ])('%s', (_, before, after, step) => {
    expect(stepBetween(before, after)).toBe(step);
  });
});

const layouts = (...all: readonly (readonly LayoutMember[])[]): Layout[] =>
  all.map((members, i) => ({ number: i + 1, shape: String(i), members, before: null, after: '3:3:' }));

describe('what has become of a table', () => {
  it('takes each column over that is still of its type, wherever it was', () => {
    const before = member([column(1), column(2, { type: '23/-1' }), column(3)]);
    const after = member([column(2), column(3), column(4)], { width: 4 });
    expect(alterationOf(layouts([before], [after]))?.members).toEqual([
      { oid: 1, same: [0, 1], widths: [3, 3], steps: [null], forms: new Map([[0, [null, 3, null]]]) },
    ]);
  });

  it('knows layouts with the same literals as one', () => {
    const after = { ...three, width: 4, columns: [...three.columns, column(4)] };
    const [found] = alterationOf(layouts([three], [three], [after], [after]))!.members;
    expect(found).toMatchObject({ same: [0, 0, 2, 2], widths: [3, 3, 4, 4], steps: [0, 1, 0] });
    expect(found!.forms).toEqual(new Map([[0, [1, 2, 3, null]]]));
  });

  it('has a layout for each column that was added', () => {
    const after = member([...three.columns, column(4), column(5), column(6)], { width: 6 });
    const { members, transitions } = alterationOf(
      layouts([three], [after]).map((layout) => ({ ...layout, before: '2:2:' })),
    )!;
    expect(members[0]).toMatchObject({ same: [0, 1, 2, 3], widths: [3, 4, 5, 6], steps: [1, 1, 1] });
    expect(members[0]!.forms.get(1)).toEqual([1, 2, 3, 4, null, null]);
    expect(transitions.map(({ before }) => before)).toEqual(['2:2:', '2:2:', '2:2:']);
    expect(transitions.map(({ after: seen }) => seen)).toEqual([null, null, '3:3:']);
  });

  it('cannot be told without the layout of before', () => {
    expect(alterationOf(layouts([three]))).toBeUndefined();
    expect(alterationOf([])).toBeUndefined();
  });

  it('reads no field of a column whose type consists of something else', () => {
    const altered = member([column(1), column(2, { typeShape: 'other' }), column(3)]);
    const { steps, forms } = alterationOf(layouts([three], [altered]))!.members[0]!;
    expect(steps).toEqual([null]);
    expect(forms.get(0)).toEqual([1, null, 3]);
  });

  it('does not make a null of a domain', () => {
    const isDomain = member([...three.columns, column(4, { isDomain: true })], { width: 4 });
    expect(alterationOf(layouts([three], [isDomain]))).toBeUndefined();
    expect(alterationOf(layouts([isDomain], [isDomain]))).toBeDefined();
  });

  const root = member(three.columns, { kind: 'p', file: null });
  const part = (oid: number, other: Partial<LayoutMember> = {}) => ({ ...three, oid, identity: `of ${oid}`, ...other });

  it.each<[name: string, later: readonly (readonly LayoutMember[])[]]>([
    ['is gone', [[root]]],
    ['is another', [[root, part(2, { identity: 'other' })]]],
    ['was gone', [[root], [root, part(2)]]],
  ])('cannot be told if a partition %s', (_, later) => {
    expect(alterationOf(layouts([root, part(2)], ...later))).toBeUndefined();
  });

  it('has the partitions that were added, and those that came with rows', () => {
    const middle = part(5, { kind: 'p' });
    const found = alterationOf(
      layouts(
        [root, part(2)],
        [root, part(2), part(3, { emptyAsOf: '5:5:' })],
        [root, part(2), part(3), part(4), middle],
      ),
    );
    expect(found).toMatchObject({ added: [3, 4], attached: [4] });
    const again = part(3, { identity: 'attached again' });
    expect(alterationOf(layouts([root], [root, part(3, { emptyAsOf: '5:5:' })], [root, again]))).toMatchObject({
      added: [3],
      attached: [3],
    });
  });
});

describe('fields of a literal', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await migrate({ database: database.pool, views: {}, log: silent });
  });
  afterAll(() => database.drop());

  const values: readonly (string | null)[] = [
    'plain',
    '',
    null,
    '"',
    '""',
    '\\',
    '\\\\"',
    ',',
    '",',
    '(a,"b")',
    ' ',
    'a b',
    '\n',
    '\t\r\n"',
    'NULL',
    '{"a,b",NULL}',
    '(,"""")',
    'ä€😀',
  ];

  it('are what they were, whatever they contain', async () => {
    const pairs = values.flatMap((a) => values.map((b) => [a, b]));
    const { rows } = await database.pool.query<{ fields: unknown }>(
      `select tidemark.fields(row(a, b, a)::text) as fields
      from unnest($1::text[], $2::text[]) with ordinality pairs (a, b, place) order by place`,
      [pairs.map(([a]) => a), pairs.map(([, b]) => b)],
    );
    expect(rows.map(({ fields }) => fields)).toEqual(pairs.map(([a, b]) => [a, b, a]));
  });
});
