import { isSubmitted, textOf } from './query-forms.js';

const reading = /^\s*(select|insert|update|delete|merge|with|values)\b/i;
/** Another statement after the first, a setting, a lock of the session, a SELECT INTO. */
const lasting = /;(?!\s*$)|advisory_lock|\b(?:set_config\b|into\b(?<!\b(?:insert|merge)\s+into))/i;

/**
 * Whether a statement, as it is given to the driver, does nothing to its transaction but read and write rows. What ends
 * the transaction, changes its settings or its constraints, or creates anything in it, is not plain. Neither is what
 * cannot be told: statements after a comment, COPY, cursors.
 */
export function isPlain(statement: unknown): boolean {
  const text = textOf(statement);
  return text !== undefined && reading.test(text) && !lasting.test(text) && !isSubmitted(statement);
}
