import { escapeLiteral } from 'pg';
import utils from 'pg/lib/utils.js';

/**
 * A value as an SQL literal of unknown type, for statements that take no parameters (COPY): what the driver would have
 * bound, through the driver's own escaping. Cast it where Postgres cannot tell the type.
 * @throws RangeError for a string with U+0000, which no Postgres text holds and which would cut the statement short.
 */
export function literal(value: unknown): string {
  const prepared = utils.prepareValue(value);
  // A toJSON can yield undefined, whatever the driver's conversion promises.
  if (prepared == null) return 'NULL';
  if (typeof prepared !== 'string') return escapeLiteral(`\\x${prepared.toString('hex')}`);
  if (prepared.includes('\0')) throw new RangeError('A parameter holds U+0000, which Postgres text cannot hold');
  return escapeLiteral(prepared);
}

/** The same as a value of a type, which is given by its qualified name. */
export function typedLiteral(value: unknown, type: string): string {
  return `${literal(value)}::${type}`;
}
