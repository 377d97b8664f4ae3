import { escapeLiteral } from 'pg';
import utils from 'pg/lib/utils.js';

/**
 * A value as an SQL literal of unknown type, for statements that take no parameters (COPY): what the driver would have
 * bound, through the driver's own escaping. Cast it where Postgres cannot tell the type.
 * @throws RangeError for a string with U+0000, which no Postgres text holds and which would cut the statement short.
 */
export function literal(value: unknown): string {
  const text = textOf(value);
  return text === null ? 'NULL' : escapeLiteral(text);
}

/** The same as a value of a type, which is given by its qualified name. */
export function typedLiteral(value: unknown, type: string): string {
  return `${literal(value)}::${type}`;
}

/**
 * The same as an expression that is the same for one parameter wherever it stands, and that neither a constant nor
 * another parameter equals, whatever its value: not even a part of it does.
 * @param name names the parameter
 * @throws as `literal`
 */
export function namedLiteral(name: string, value: unknown, type: string): string {
  const text = textOf(value);
  const named = text === null ? name : `${name}=${text}`;
  return `substring(${escapeLiteral(named)} from ${escapeLiteral(`^${name}=(.*)`)})::${type}`;
}

/** What the driver would send; null for a null. */
function textOf(value: unknown): string | null {
  const prepared = utils.prepareValue(value);
  // A toJSON can yield undefined, whatever the driver's conversion promises.
  if (prepared == null) return null;
  if (typeof prepared !== 'string') return `\\x${prepared.toString('hex')}`;
  if (prepared.includes('\0')) throw new RangeError('A parameter holds U+0000, which Postgres text cannot hold');
  return prepared;
}
