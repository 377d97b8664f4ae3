import { isSubmittable, textOf } from './query-arguments.js';

const rowStatement = /^\s*(select|insert|update|delete|merge|with|values)\b/i;
/** Matches a second statement, a setting, a session-level lock, or SELECT INTO. */
const lastingEffect = /;(?!\s*$)|advisory_lock|\b(?:set_config\b|into\b(?<!\b(?:insert|merge)\s+into))/i;

/**
 * True if a statement, as passed to the driver, only reads and writes rows. Statements that end the transaction, change
 * its settings or constraints, or create objects are not plain. Neither are those that this check cannot judge:
 * statements after a comment, COPY, cursors.
 */
export function isPlain(statement: unknown): boolean {
  const text = textOf(statement);
  return text !== undefined && rowStatement.test(text) && !lastingEffect.test(text) && !isSubmittable(statement);
}
