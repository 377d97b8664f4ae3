/** Changes of a table's row format, and the fields of row literals. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import {
  type FormatColumn,
  type RelationFormat,
  type RowFormat,
  stepBetween,
} from '../../../packages/tidemark/src/store/row-formats/row-format.js';
import { schemaChangeOf } from '../../../packages/tidemark/src/store/row-formats/schema-change.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';

const column = (number: number, other: Partial<FormatColumn> = {}): FormatColumn => ({
  attnum: number,
  column: number,
  type: '25/-1',
  typeHash: 'none',
  version: '700',
  hasStableText: false,
  isDomain: false,
  ...other,
});

const relation = (columns: readonly FormatColumn[], other: Partial<RelationFormat> = {}): RelationFormat => ({
  oid: 1,
  kind: 'r',
  identity: '',
  emptyAsOf: null,
  width: 3,
  file: 1,
  columns,
  ...other,
});

const three = relation([column(1), column(2), column(3)]);
const renamed = column(3, { version: '800' });
const stable = column(3, { hasStableText: true });

describe('the step from one row format to the next', () => {
  it.each<[name: string, before: RelationFormat, after: RelationFormat, step: 1 | 0 | -1 | null]>([
    ['zero if nothing changes', three, three, 0],
    ['one if columns are added', three, { ...three, width: 5, columns: [...three.columns, column(4), column(5)] }, 1],
    [
      'one if a column is added and the table is rewritten',
      three,
      { ...three, width: 4, file: 2, columns: [...three.columns, column(4)] },
      1,
    ],
    [
      'null if a column is added, and another was added and dropped',
      three,
      { ...three, width: 5, columns: [...three.columns, column(5)] },
      null,
    ],
    ['null if a column was added and dropped', three, { ...three, width: 4 }, null],
    ['minus one if columns are dropped', three, relation([column(2)]), -1],
    [
      'null if a column is dropped, and another was added and dropped',
      three,
      relation([column(1), column(2)], { width: 4 }),
      null,
    ],
    [
      'null if a column is dropped and another is added',
      three,
      relation([column(1), column(2), column(4)], { width: 4 }),
      null,
    ],
    [
      'null if a column changes its type',
      three,
      relation([column(1), column(2), column(3, { version: '800', type: '23/-1' })]),
      null,
    ],
    ['null if a column gets another name', three, relation([column(1), column(2), renamed]), null],
    [
      'zero if a column of a type with stable text gets another name',
      relation([column(1), stable]),
      relation([column(1), { ...stable, version: '800' }]),
      0,
    ],
    [
      'null if a column of a type with stable text gets another name and the table is rewritten',
      relation([column(1), stable]),
      relation([column(1), { ...stable, version: '800' }], { file: 2 }),
      null,
    ],
    [
      'null if a column of a type with stable text gets another type',
      relation([column(1), stable]),
      relation([column(1), { ...stable, version: '800', type: '1043/-1' }]),
      null,
    ],
  ])('is %s', (_, before, after, step) => {
    expect(stepBetween(before, after)).toBe(step);
  });
});

const rowFormats = (...all: readonly (readonly RelationFormat[])[]): RowFormat[] =>
  all.map((relations, i) => ({ number: i + 1, schemaHash: String(i), relations, before: null, after: '3:3:' }));

describe('a schema change', () => {
  it('keeps each column that still has its type, in any position', () => {
    const before = relation([column(1), column(2, { type: '23/-1' }), column(3)]);
    const after = relation([column(2), column(3), column(4)], { width: 4 });
    expect(schemaChangeOf(rowFormats([before], [after]))?.relations).toEqual([
      { oid: 1, firstEqual: [0, 1], widths: [3, 3], steps: [null], fieldMappings: new Map([[0, [null, 3, null]]]) },
    ]);
  });

  it('treats row formats with the same literals as one', () => {
    const after = { ...three, width: 4, columns: [...three.columns, column(4)] };
    const [history] = schemaChangeOf(rowFormats([three], [three], [after], [after]))!.relations;
    expect(history).toMatchObject({ firstEqual: [0, 0, 2, 2], widths: [3, 3, 4, 4], steps: [0, 1, 0] });
    expect(history!.fieldMappings).toEqual(new Map([[0, [1, 2, 3, null]]]));
  });

  it('has a row format for each added column', () => {
    const after = relation([...three.columns, column(4), column(5), column(6)], { width: 6 });
    const { relations, transitions } = schemaChangeOf(
      rowFormats([three], [after]).map((format) => ({ ...format, before: '2:2:' })),
    )!;
    expect(relations[0]).toMatchObject({ firstEqual: [0, 1, 2, 3], widths: [3, 4, 5, 6], steps: [1, 1, 1] });
    expect(relations[0]!.fieldMappings.get(1)).toEqual([1, 2, 3, 4, null, null]);
    expect(transitions.map(({ before }) => before)).toEqual(['2:2:', '2:2:', '2:2:']);
    expect(transitions.map(({ after: snapshot }) => snapshot)).toEqual([null, null, '3:3:']);
  });

  it('is unknown without the previous row format', () => {
    expect(schemaChangeOf(rowFormats([three]))).toBeUndefined();
    expect(schemaChangeOf([])).toBeUndefined();
  });

  it('reads no field of a column whose type has changed inside', () => {
    const changed = relation([column(1), column(2, { typeHash: 'other' }), column(3)]);
    const { steps, fieldMappings } = schemaChangeOf(rowFormats([three], [changed]))!.relations[0]!;
    expect(steps).toEqual([null]);
    expect(fieldMappings.get(0)).toEqual([1, null, 3]);
  });

  it('is unknown if it adds a column of a domain type', () => {
    const withDomain = relation([...three.columns, column(4, { isDomain: true })], { width: 4 });
    expect(schemaChangeOf(rowFormats([three], [withDomain]))).toBeUndefined();
    expect(schemaChangeOf(rowFormats([withDomain], [withDomain]))).toBeDefined();
  });

  const root = relation(three.columns, { kind: 'p', file: null });
  const part = (oid: number, other: Partial<RelationFormat> = {}) => ({
    ...three,
    oid,
    identity: `of ${oid}`,
    ...other,
  });

  it.each<[name: string, later: readonly (readonly RelationFormat[])[]]>([
    ['has been removed', [[root]]],
    ['has been replaced', [[root, part(2, { identity: 'other' })]]],
    ['has been removed and attached again', [[root], [root, part(2)]]],
  ])('is unknown if a partition %s', (_, later) => {
    expect(schemaChangeOf(rowFormats([root, part(2)], ...later))).toBeUndefined();
  });

  it('lists the added partitions, and those that were attached with rows', () => {
    const middle = part(5, { kind: 'p' });
    const change = schemaChangeOf(
      rowFormats(
        [root, part(2)],
        [root, part(2), part(3, { emptyAsOf: '5:5:' })],
        [root, part(2), part(3), part(4), middle],
      ),
    );
    expect(change).toMatchObject({ addedPartitions: [3, 4], attachedPartitions: [4] });
    const again = part(3, { identity: 'attached again' });
    expect(schemaChangeOf(rowFormats([root], [root, part(3, { emptyAsOf: '5:5:' })], [root, again]))).toMatchObject({
      addedPartitions: [3],
      attachedPartitions: [3],
    });
  });
});

describe('tidemark.fields', () => {
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

  it('returns the fields of a row literal unchanged, whatever they contain', async () => {
    const pairs = values.flatMap((a) => values.map((b) => [a, b]));
    const { rows } = await database.pool.query<{ fields: unknown }>(
      `select tidemark.fields(row(a, b, a)::text) as fields
      from unnest($1::text[], $2::text[]) with ordinality pairs (a, b, number) order by number`,
      [pairs.map(([a]) => a), pairs.map(([, b]) => b)],
    );
    expect(rows.map(({ fields }) => fields)).toEqual(pairs.map(([a, b]) => [a, b, a]));
  });
});
