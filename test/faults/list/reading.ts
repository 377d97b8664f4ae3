import type { Fault } from '../fault.js';

const views = ['test/rest/views.test.ts'];
const streams = ['test/rest/view-streams.test.ts'];
const reads = ['test/pulls/reads.test.ts'];
const requests = 'src/endpoints/views/view-requests.ts';
const answers = 'src/pulls/read-answer.ts';
const watches = 'src/endpoints/listening/watches.ts';
const full = 'src/store/patches/full-patch.ts';
const shaped = ['test/rest/shaped-views.test.ts'];
const keySql = 'src/view/keys/key-sql.ts';
const rowByKey = 'src/view/keys/row-by-key.ts';

export const reading: readonly Fault[] = [
  {
    name: 'a row that is there for two reasons is read twice',
    file: full,
    find: 'keysMayRepeat ? `distinct on',
    replace: 'keysMayRepeat && !isOps && isOps ? `distinct on',
    tests: ['test/pulls/repeated-keys.test.ts'],
  },
  {
    name: 'a tag of rows in another form is taken',
    file: requests,
    find: "'application/x-ndjson': '.lines'",
    replace: "'application/x-ndjson': ''",
    tests: views,
  },
  {
    name: 'what is compressed has the tag of what is not',
    file: requests,
    find: "isCompressed ? 'W/' : ''",
    replace: "''",
    tests: views,
  },
  {
    name: 'rows that have not changed are sent again for the sake of a newer cookie',
    file: 'src/pulls/pull.ts',
    find: "if (hasOps || this.#parts.form === 'rows') return hasOps;",
    replace: 'if (hasOps) return hasOps;',
    tests: reads,
  },
  {
    name: 'a row of equal values is chosen among those with the key',
    file: rowByKey,
    find: "view.strategy !== 'incremental' ?",
    replace: 'view.prefix === undefined ?',
    tests: reads,
  },
  {
    name: 'no index finds a row',
    file: rowByKey,
    find: '[parameter, ...view.keyColumns.map((_, i) => parameter + 1 + i)]',
    replace: '[parameter]',
    tests: reads,
  },
  {
    name: 'the whole of a keyed view is read for one row',
    file: rowByKey,
    find: 'restricted(view, ofKey, [parameter])',
    replace: 'restricted(view, forms.whole, [parameter])',
    tests: ['test/oracle/keyed-counted.test.ts'],
  },
  {
    name: 'a key that its type cannot be is a failure',
    file: 'src/pulls/pull-route.ts',
    find: '!isOfValues(error) || ',
    replace: 'isOfValues(error) || ',
    tests: views,
  },
  {
    name: 'rows come in any order',
    file: full,
    find: 'return isOps && !keysMayRepeat ? query :',
    replace: 'return !keysMayRepeat ? query :',
    tests: views,
  },
  {
    name: 'a row takes several lines',
    file: full,
    find: 'isOneLine: true',
    replace: 'isOneLine: false',
    tests: views,
  },
  {
    name: 'lines of rows begin with commas',
    file: answers,
    find: 'bytes[i - 1] !== newline',
    replace: 'true',
    tests: views,
  },
  {
    name: 'all rows come without a clear',
    file: answers,
    find: "kind === 'delta' || kind === 'views' ? ''",
    replace: "kind !== 'reset' ? ''",
    tests: views,
  },
  {
    name: 'a carriage return ends a line of an event',
    file: answers,
    find: ".replaceAll('\\r', ' ')",
    replace: '',
    tests: streams,
  },
  {
    name: 'a request waits on when its caller has gone away',
    file: watches,
    find: "signal?.addEventListener('abort', end);",
    replace: '',
    tests: streams,
  },
  {
    name: 'whoever waits outlives the authorization',
    file: watches,
    find: 'const age = expiresAt && setTimeout(',
    replace: 'const age = expiresAt && !expiresAt && setTimeout(',
    tests: streams,
  },
  {
    name: 'a user may wait as often as it likes',
    file: 'src/endpoints/listening/listeners.ts',
    find: 'holding.take(1);',
    replace: '',
    tests: streams,
  },
  {
    name: 'who waits for a row is told of no change of it',
    file: 'src/pokes/tail.ts',
    find: '...asked }, part);',
    replace: "...asked }, part && { view: part.view, key: '' });",
    tests: streams,
  },
  {
    name: 'a stream begins anew after it is resumed',
    file: requests,
    find: 'resumed ?? query',
    replace: 'query',
    tests: streams,
  },
  {
    name: 'a row of one user’s prefix has the key that was asked for as its prefix',
    file: keySql,
    find: 'values[prefixAt]',
    replace: 'values.at(-1)',
    tests: shaped,
  },
  {
    name: 'a row with a time as its key is looked for in the time zone of the session',
    file: keySql,
    find: 'isUTC(column) ? `',
    replace: 'isUTC(column) && !column ? `',
    tests: shaped,
  },
  {
    name: 'the prefix of a row’s key is asked for',
    file: rowByKey,
    find: "return keySql(parameterTypes.map(() => `''`));",
    replace: "return keySql(parameterTypes.map(() => `'user/'`));",
    tests: shaped,
  },
  {
    name: 'a column that may be omitted is said to be always there',
    file: 'src/openapi/schemas/row-schema.ts',
    find: '!omitsNulls || isNeverNull',
    replace: 'true || isNeverNull',
    tests: ['test/openapi/row-schema.test.ts'],
  },
  {
    name: 'a column of an outer join is said to be never null',
    file: 'src/openapi/schemas/row-schema.ts',
    find: '(keepsNotNull && isNotNull)',
    replace: 'isNotNull',
    tests: ['test/openapi/row-schema.test.ts'],
  },
  {
    name: 'the path of a key of dots is that of another resource',
    file: 'src/protocol/path-segment.ts',
    find: 'unsafe.test(text) ?',
    replace: 'text === null ?',
    tests: ['test/protocol/path-segment.test.ts'],
  },
  {
    name: 'what is left of a path with dots is taken for a row',
    file: 'src/endpoints/views/views.ts',
    find: "if (segments.includes(''))",
    replace: "if (segments[0] === '')",
    tests: views,
  },
  {
    name: 'a token lists transactions in progress as they are',
    file: 'src/protocol/read-token.ts',
    find: 'toDistances(snapshot),',
    replace: 'snapshot,',
    tests: ['test/protocol/read-token.test.ts'],
  },
];
