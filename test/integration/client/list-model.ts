/** Lists of rows computed from a plain array, and random rows and options, to compare the client's lists with. */
import { seeded } from '../conformance/random.js';

type Value = string | number | boolean | null | undefined | readonly string[];

export interface Row {
  readonly id: string;
  readonly text?: string | null;
  readonly number?: number | null;
  readonly flag: boolean;
  readonly any?: Value;
  readonly body: string;
}

type Field = keyof Row;

/** The options of `list`, with the index as a list of fields. */
export interface ModelOptions {
  readonly by?: readonly Field[];
  readonly equals?: readonly Value[];
  readonly prefix?: string;
  readonly after?: string | { readonly row: Partial<Row>; readonly key: string };
  readonly limit?: number;
  readonly descending?: boolean;
}

export const indexes: readonly (readonly Field[])[] = [
  ['text'],
  ['number'],
  ['flag'],
  ['any'],
  ['text', 'number'],
  ['flag', 'text'],
  ['number', 'any', 'text'],
];

const compareTexts = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Ranks numbers before texts, texts before null, and all other values, such as booleans and lists, before numbers. */
function rank(value: Value): number {
  if (value === null || value === undefined) return 3;
  return ['number', 'string'].indexOf(typeof value) + 1;
}

function compare(a: Value, b: Value): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === 'number') return a - (b as number);
  if (typeof a === 'string') return compareTexts(a, b as string);
  return compareTexts(JSON.stringify(a ?? null), JSON.stringify(b ?? null));
}

function compareRows(fields: readonly Field[], a: Partial<Row>, keyOfA: string, b: Row): number {
  const different = fields.map((field) => compare(a[field], b[field])).find((order) => order !== 0);
  return different ?? compareTexts(keyOfA, b.id);
}

/** Returns the rows of a list, in its order. */
export function listed(
  rows: Iterable<Row>,
  { by, equals = [], prefix, after, limit = Number.POSITIVE_INFINITY, descending = false }: ModelOptions,
): Row[] {
  const fields = by ?? [];
  const direction = descending ? -1 : 1;
  const next = by ? fields[equals.length] : 'id';
  const start = typeof after === 'string' ? { row: {}, key: after } : after;
  return [...rows]
    .filter((row) => equals.every((value, i) => compare(row[fields[i]!], value) === 0))
    .filter((row) => prefix === undefined || (typeof row[next!] === 'string' && String(row[next!]).startsWith(prefix)))
    .filter((row) => !start || compareRows(fields, start.row, start.key, row) * direction < 0)
    .sort((a, b) => compareRows(fields, a, a.id, b) * direction)
    .slice(0, limit);
}

const characters = [
  '',
  'a',
  'b',
  '0',
  '1',
  '2',
  'z',
  ' ',
  '~',
  '\0',
  '\x01',
  '\x02',
  '\x03',
  '\x1f',
  '\x7f',
  'é',
].concat(['\ud7ff', '\ue000', '\uffff', '\u{10000}', '😀', '\u{10ffff}']);
const numbers = [0, -0, 1, -1, 0.5, -0.5, 2, 10, -10, 255, 256, 1e-7, 5e-324, -5e-324, 2 ** 53, -(2 ** 53)].concat([
  1.7976931348623157e308, -1.7976931348623157e308,
]);

/** Random rows, options and writes, identical in every run. */
export class Generator {
  readonly below: (limit: number) => number;

  constructor(seed: number) {
    this.below = seeded(seed);
  }

  some<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  text(): string {
    return Array.from({ length: this.below(4) }, () => this.some(characters)).join('');
  }

  number(): number {
    return this.below(3) > 0 ? this.some(numbers) : (this.below(2 ** 30) - 2 ** 29) / 2 ** this.below(30);
  }

  row(id: string = this.key()): Row {
    const text = this.below(6) > 0 ? this.text() : this.some([null, undefined]);
    const number = this.below(6) > 0 ? this.number() : this.some([null, undefined]);
    const others: Value[] = [true, false, null, undefined, [], ['a'], ['a', '\0']];
    const any = this.some<Value>([this.text(), this.number(), this.some(others)]);
    const fields = { text, number, any };
    return {
      id,
      ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
      flag: this.below(2) > 0,
      // Makes the rows need a tree of several levels.
      body: 'x'.repeat(this.below(3_000)),
    };
  }

  /** A random key. Keys cannot contain NUL. */
  key(): string {
    return `${this.text()}${this.below(1_000)}`.replaceAll('\0', '');
  }

  options(rows: readonly Row[]): ModelOptions {
    const row = this.below(4) > 0 && rows.length > 0 ? this.some(rows) : this.row();
    const by = this.below(4) > 0 ? this.some(indexes) : undefined;
    const equalFields = by ? this.below(by.length + 1) : 0;
    const next = by ? by[equalFields] : 'id';
    const beginning = [...String(row[next ?? 'id'] ?? '')].slice(0, this.below(3)).join('');
    const from = this.below(4) > 0 && rows.length > 0 ? this.some(rows) : this.row();
    return {
      ...(by && { by }),
      ...(equalFields > 0 && { equals: by!.slice(0, equalFields).map((field) => row[field]) }),
      ...(next && this.below(3) === 0 && { prefix: beginning }),
      ...(this.below(3) === 0 && { after: by ? { row: from, key: from.id } : from.id }),
      ...(this.below(2) > 0 && { limit: this.below(20) }),
      ...(this.below(2) > 0 && { descending: this.below(4) > 0 }),
    };
  }
}
