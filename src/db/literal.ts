import { escapeLiteral } from 'pg';
import utils from 'pg/lib/utils.js';
import type { Statement } from './database.js';

/**
 * A value as an SQL literal of unknown type, for statements that take no parameters (COPY): the text that the driver
 * would bind, with the driver's own escaping. Cast it where Postgres cannot infer the type.
 * @throws RangeError for a string with U+0000, which Postgres text cannot hold and which would cut the statement short.
 */
export function literal(value: unknown): string {
  const text = parameterText(value);
  return text === null ? 'NULL' : escapeLiteral(text);
}

/**
 * Like `literal`, cast to a type.
 * @param type the type's qualified name
 */
export function typedLiteral(value: unknown, type: string): string {
  return `${literal(value)}::${type}`;
}

/**
 * Like `typedLiteral`, but as an expression that is the same wherever the parameter occurs, and that differs, as does
 * every part of it, from all constants and all other parameters, whatever their values.
 * @param name the parameter's name
 * @throws as `literal`
 */
export function namedLiteral(name: string, value: unknown, type: string): string {
  const text = parameterText(value);
  const named = text === null ? name : `${name}=${text}`;
  return `substring(${escapeLiteral(named)} from ${escapeLiteral(`^${name}=(.*)`)})::${type}`;
}

/**
 * A statement's text with its parameters as literals, so that it can be sent together with others. Their types are what
 * Postgres infers.
 * @throws as `literal`
 */
export function inline({ text, values = [] }: Statement): string {
  return text.replaceAll(/\$(\d+)/g, (_, place) => literal(values[Number(place) - 1]));
}

/**
 * The text that the driver would send; null for a null.
 * @throws as `literal`
 */
export function parameterText(value: unknown): string | null {
  const prepared = utils.prepareValue(value);
  // A toJSON method can return undefined, despite the type of the driver's conversion.
  if (prepared == null) return null;
  if (typeof prepared !== 'string') return `\\x${prepared.toString('hex')}`;
  if (prepared.includes('\0')) throw new RangeError('A parameter contains U+0000, which Postgres text cannot hold');
  return prepared;
}
