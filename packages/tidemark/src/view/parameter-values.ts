/** Refuses parameter values that Postgres would accept, but that match nothing or the wrong rows. */
import type { ParameterKind } from '../db/database.js';
import { SetupError } from '../errors.js';

/** A query's parameters, and what Postgres expects of them. */
interface Parameters {
  readonly text: string;
  readonly parameterTypes: readonly string[];
  readonly parameterKinds: readonly ParameterKind[];
}

/** @throws SetupError if a value cannot be what the query's author means. */
export function checkParameterValues(values: readonly unknown[], { text, ...expected }: Parameters): void {
  for (const [i, kind] of expected.parameterKinds.entries()) {
    const mistake = mistakeIn(values[i], kind, expected.parameterTypes[i]!.replace(/^pg_catalog\./, ''));
    if (mistake) throw new SetupError(`its parameter $${i + 1}${contextOf(i + 1, text)} ${mistake}`);
  }
}

function mistakeIn(value: unknown, kind: ParameterKind, type: string): string | undefined {
  if (value === undefined) {
    return 'is undefined: a field may be missing or misspelt. Pass null if it should equal nothing';
  }
  if (typeof value === 'function' || typeof value === 'symbol') {
    return `is a ${typeof value}, which Postgres cannot store. Pass a value`;
  }
  if (Array.isArray(value)) return mistakeInArray(value, kind, type);
  if (typeof value !== 'object' || kind === 'json' || isWrittenAsText(value)) return undefined;
  if ('then' in value) return `is a promise. Await it before the query is built: \`query\` itself cannot be async`;
  if (Symbol.iterator in value) return `is a collection. Pass an array: \`= any(\${[...values]})\``;
  return `is an object, but Postgres expects a ${type}. Pass one of its fields, or its text`;
}

function mistakeInArray(value: readonly unknown[], kind: ParameterKind, type: string): string | undefined {
  if (kind === 'json') return 'is an array, which the driver does not send as JSON. Pass `JSON.stringify(values)`';
  if (kind === 'other') {
    return `is an array, but Postgres expects one ${type}. Write \`= any(\${values})\` in place of \`in (\${values})\``;
  }
  if (value.flat(Number.POSITIVE_INFINITY).includes(undefined)) {
    return 'is an array that contains undefined. Pass null in its place, or leave it out';
  }
  return undefined;
}

/** True for dates, binary data, and objects that convert themselves for the driver. */
function isWrittenAsText(value: object | null): value is null {
  return value === null || value instanceof Date || ArrayBuffer.isView(value) || 'toPostgres' in value;
}

/** The words before a parameter, which help its author to find it. */
function contextOf(number: number, text: string): string {
  const before = text.slice(0, text.search(new RegExp(`\\$${number}(?!\\d)`)));
  return ` (after \`${before.trim().split(/\s+/).slice(-4).join(' ')}\`)`;
}
