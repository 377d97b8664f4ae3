/** The types of columns and expressions, with interesting values. */
import { quotedText } from '../../../packages/tidemark/src/sql.js';

export interface SqlType {
  /** Its name in SQL. */
  readonly name: string;
  /** Some of its values as text. Equal values that look different are adjacent. */
  readonly values: readonly string[];
  /** The values that an application would bind, if they are not the texts. */
  readonly bound?: readonly unknown[];
  /** It has `=`, so it can be grouped. */
  readonly isEqual: boolean;
  /** It has `<`. */
  readonly isOrdered: boolean;
  /** Equal values are identical. */
  readonly isExact: boolean;
  /** It can be part of a primary key. */
  readonly isKey: boolean;
  /** The element type of an array. */
  readonly element?: string;
  /** The statement that creates it. */
  readonly creation?: string;
  /** Its name in signatures, if it is another one: an enum with an odd name is an `enum`. */
  readonly family?: string;
  readonly since?: number;
}

type Trait = 'no =' | 'no <' | 'inexact' | 'no key';

function type(
  name: string,
  values: readonly string[],
  traits: readonly Trait[] = [],
  more: Partial<SqlType> = {},
): SqlType {
  return {
    name,
    values,
    isEqual: !traits.includes('no ='),
    isOrdered: !traits.includes('no =') && !traits.includes('no <'),
    isExact: !traits.includes('inexact'),
    isKey: !traits.some((trait) => trait !== 'inexact'),
    ...more,
  };
}

/** The types of every case: operators and functions return them. */
export const basicTypes: readonly SqlType[] = [
  type('integer', ['0', '1', '2', '3', '7', '-1', '9', '10'], [], { bound: [0, 1, 2, 3, '7', 9, 10] }),
  type('text', ['', 'a', 'b', 'A', 'open', 'done', "it's", 'a/b', '%', 'ü', 'now', '9', '10', '{"a":1}']),
  type('boolean', ['true', 'true', 'true', 'false'], [], { bound: [true, true, true, false] }),
  type('bigint', ['0', '1', '9', '10', '9007199254740993', '-9007199254740993', '42'], [], {
    bound: [1, '9007199254740993', 9],
  }),
  type('numeric', ['1.0', '1.00', '1', '0', '9', '10', '-0.50', '-0.5', '123456789012345678.9', '1e-7'], ['inexact'], {
    bound: [1, '1.00', 9, 10, 0.1],
  }),
];

/** Each case has some of these. */
export const furtherTypes: readonly SqlType[] = [
  type('smallint', ['0', '1', '2', '-3']),
  type('double precision', ['0', '-0', '1', '1e16', '-1e16', '0.1', 'NaN', 'Infinity'], ['inexact']),
  type('real', ['0', '-0', '1.5', '0.1', 'NaN'], ['inexact']),
  type('character varying(8)', ['', 'a', 'A', 'open', 'a '], [], { family: 'varchar' }),
  type('character(3)', ['', 'a', 'A', 'a b', 'abc'], [], { family: 'char' }),
  type('bit(4)', ['0000', '0001', '1010', '1111'], [], { family: 'bit' }),
  type('bit varying', ['', '0', '1', '101'], [], { family: 'varbit' }),
  type('citext', ['a', 'A', 'open', 'Open', ''], ['inexact']),
  type('uuid', ['00000000-0000-0000-0000-000000000001', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']),
  type('date', ['2024-02-29', '2024-03-01', '1999-12-31', 'infinity', '0044-03-15 BC']),
  type('timestamp', ['2024-02-29 12:00:00', '2024-02-29 12:00:00.000001', '-infinity', '2038-01-19 03:14:07']),
  type('timestamptz', ['2024-02-29 12:00:00+00', '2024-03-31 01:30:00+01', 'infinity', '2024-10-27 02:30:00+02'], [], {
    bound: ['2024-02-29 12:00:00+00', new Date(1_700_000_000_000)],
  }),
  type('time', ['00:00', '12:30:15', '24:00:00']),
  type('interval', ['1 day', '24:00:00', '1 mon', '30 days', '-00:00:01', '0'], ['inexact']),
  type('jsonb', ['1', '1.0', 'null', '{}', '{"a": 1, "b": [1, 2]}', '{"a": 1.0}', '["x", null]', '"a"'], ['inexact'], {
    bound: [{ a: 1 }, '[1,2]', '{"a":1.0}'],
  }),
  type('json', ['1', 'null', '{"a": 1, "a": 2}', '[1, 1.0]', '{"b":"x"}'], ['no =']),
  type('bytea', ['', '\\x00', '\\xdeadbeef'], [], { bound: [Buffer.from([0, 255])] }),
  type('text[]', ['{}', '{a}', '{a,b}', '{NULL,a}', '[2:3]={a,b}', '{{a},{b}}'], [], {
    element: 'text',
    bound: [[], ['a', 'b'], [null]],
  }),
  type('integer[]', ['{}', '{1}', '{1,2,3}', '{NULL}', '{{1,2},{3,4}}'], [], {
    element: 'integer',
    bound: [[1, 2], []],
  }),
  type('numeric[]', ['{}', '{1.0}', '{1.00}'], ['inexact'], { element: 'numeric' }),
  type('int4range', ['empty', '[1,3)', '[2,)', '(,)', '[1,1]']),
  type('tstzrange', ['empty', '[2024-01-01 00:00+00,2025-01-01 00:00+00)', '[2024-06-01 00:00+00,)']),
  type('int4multirange', ['{}', '{[1,3),[5,7)}', '{[1,)}']),
  type('inet', ['10.0.0.1', '10.0.0.0/8', '::1']),
  type('"char"', ['a', '', 'Z'], [], { family: '"char"' }),
  type('name', ['a', 'Open'], [], { family: 'name' }),
  type('point', ['(0,0)', '(1,-0)'], ['no =']),
  type('tsvector', ["'a':1 'b':2", ''], []),
  type('oid', ['0', '1', '4294967295']),
];

/** Types that the case creates, with quoted and unusual names. */
export const createdTypes: readonly ((name: string) => SqlType)[] = [
  (name) =>
    type(name, ['sad', 'ok', 'HAPPY', 'odd "mood"'], [], {
      family: 'enum',
      creation: `create type ${name} as enum ('sad', 'ok', 'HAPPY', 'odd "mood"')`,
    }),
  (name) =>
    type(name, ['0', '1', '5'], [], {
      family: 'int domain',
      creation: `create domain ${name} as integer check (value >= 0)`,
    }),
  (name) =>
    type(name, ['1.0', '1.00', '2'], ['inexact'], {
      family: 'numeric domain',
      creation: `create domain ${name} as numeric not null check (value > 0)`,
    }),
  (name) =>
    type(name, ['(1,a)', '(1,)', '(,b)', '(2,"x, y")'], ['no key'], {
      family: 'pair',
      creation: `create type ${name} as (a integer, "B c" text)`,
    }),
  (name) =>
    type(`text collate ${name}`, ['a', 'A', 'ä', 'open', 'OPEN'], ['inexact'], {
      family: 'caseless',
      creation: `create collation ${name} (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    }),
];

/** True if its JSON can be other than one text or number, such as an array. It then cannot be a key. */
export function isNested({ name, element, family }: SqlType): boolean {
  return element !== undefined || ['json', 'jsonb'].includes(name) || family === 'pair';
}

/** Its name in signatures. */
export function familyOf({ family, name }: SqlType): string {
  return family ?? name;
}

/** Its name in casts, without a collation. */
export function castName({ name, family }: SqlType): string {
  return family === 'caseless' ? 'text' : name;
}

/** A value as a literal with its type. */
export function typedLiteral(type: SqlType, value: string): string {
  const literal = `${quotedText(value)}::${castName(type)}`;
  return type.family === 'caseless' ? `(${literal} collate ${type.name.slice('text collate '.length)})` : literal;
}
