/** Classifies refusals of views as justified or needless. */
import type { Refusal } from './tally.js';
import { type FuzzView, objectionsTo, textOfView } from './view.js';

/** @param keysAreThere True if all tables have primary keys. */
export function refusalOf(view: FuzzView, message: string, keysAreThere: boolean): Refusal {
  const { text } = textOfView(view);
  const isRight = ofPostgres.some((reason) => message.includes(reason)) || (!keysAreThere && message.includes(keyless));
  return { isNeedless: objectionsTo(view).length === 0 && !isRight, reason: withoutNames(message), text };
}

const keyless = 'has no primary key';

/** Properties that Postgres derives from a query and the generator does not model. */
const ofPostgres = [
  'it groups by a parameter whose type is not written everywhere',
  'it has GROUPING SETS, CUBE or ROLLUP over a subquery',
  // For a parameter without a written type, Postgres expects a text.
  'is an array, but Postgres expects one text',
  // Whether rows of several instances can have the same key.
  'depends on an argument, but a client has one value for a key',
];

/** Removes names and values from a message. */
export function withoutNames(message: string): string {
  return message
    .replace(/"(?:[^"]|"")*"/g, '"…"')
    .replace(/'(?:[^']|'')*'/g, "'…'")
    .replace(/\$\d+/g, '$n')
    .replace(/it reads (\S+?), which/, 'it reads …, which')
    .replace(/^(there is no table) .*?(\. |$)/, '$1 …$2')
    .replace(/two columns named .*?\. /, 'two columns named …. ')
    .replace(/^Changes to .*? are not/, 'Changes to … are not')
    .replace(/domain .*? does/, 'domain … does')
    .replace(/\d+/g, 'n');
}
