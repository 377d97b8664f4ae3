/** The prefixes of a view's keys. Pure. */
import { SetupError } from '../../errors.js';
import type { View, ViewInput } from '../define.js';

/** Returns the prefix of all users' keys; undefined if it depends on the user. */
export function commonPrefix(
  name: string,
  { prefix, template }: Pick<View<never>, 'prefix' | 'template'>,
): string | undefined {
  if (typeof prefix === 'function') return undefined;
  return readPrefix(prefix ?? (template === undefined ? `${name}/` : ''));
}

/** Returns the prefix of one user's keys; undefined if it is the same for all users. */
export function ownPrefix<Context>({ prefix }: View<Context>, input: ViewInput<Context>): string | undefined {
  return typeof prefix === 'function' ? readPrefix(prefix(input)) : undefined;
}

/** Returns a prefix as Postgres stores it. */
function readPrefix(prefix: unknown): string {
  if (typeof prefix !== 'string') throw new SetupError('its prefix is no text. Return a string');
  if (prefix.includes('\0')) throw new SetupError('its prefix contains U+0000, which Postgres text cannot hold');
  return prefix.toWellFormed();
}
