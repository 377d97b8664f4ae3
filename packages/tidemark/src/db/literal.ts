import { escapeLiteral } from 'pg';
import utils from 'pg/lib/utils.js';
import type { Statement } from './database.js';

/**
 * Writes a value as an SQL literal of unknown type, for statements that take no parameters (COPY): the text that the
 * driver would bind, with the driver's own escaping. Cast it where Postgres cannot infer the type.
 * @throws RangeError for a string with U+0000, which Postgres text cannot hold and which would cut the statement short.
 */
export function literal(value: unknown): string {
  const text = parameterText(value);
  return text === null ? 'NULL' : escapeLiteral(text);
}

/**
 * Writes a value as an SQL literal that is cast to a type.
 * @param type the type's qualified name
 */
export function typedLiteral(value: unknown, type: string): string {
  return `${literal(value)}::${type}`;
}

/**
 * Writes a parameter's value as an SQL expression that is the same wherever the parameter occurs. It differs, as does
 * every part of it, from all constants and all other parameters, whatever their values.
 * @param name the parameter's name
 * @throws RangeError for a string with U+0000
 */
export function namedLiteral(name: string, value: unknown, type: string): string {
  const text = parameterText(value);
  const named = text === null ? name : `${name}=${text}`;
  return `substring(${escapeLiteral(named)} from ${escapeLiteral(`^${name}=(.*)`)})::${type}`;
}

/**
 * Returns a statement's text with its parameters as literals, so that it can be sent together with others. Postgres
 * infers the types of the literals.
 * @throws RangeError for a string with U+0000
 */
export function inline({ text, values = [] }: Statement): string {
  return text.replaceAll(/\$(\d+)/g, (_, number) => literal(values[Number(number) - 1]));
}

/**
 * Returns the text that the driver would send; null for a null.
 * @throws RangeError for a string with U+0000
 */
export function parameterText(value: unknown): string | null {
  const prepared = utils.prepareValue(value);
  // A toJSON method can return undefined, although the type of the driver's conversion rules that out.
  if (prepared == null) return null;
  if (typeof prepared !== 'string') return `\\x${prepared.toString('hex')}`;
  if (prepared.includes('\0')) throw new RangeError('A parameter contains U+0000, which Postgres text cannot hold');
  return prepared;
}
