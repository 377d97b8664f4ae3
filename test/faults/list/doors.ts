/** Other ways in and out: pokes in the browser, hooks, paths, mapped errors, key-value transactions. */
import type { Fault } from '../fault.js';

const poke = { file: 'src/poke.ts', tests: ['test/poke.test.ts'] };
const hooks = { file: 'src/endpoints/listening/poke-hooks.ts', tests: ['test/endpoints/poke-hooks.test.ts'] };
const listeners = 'src/endpoints/listening/listeners.ts';
const server = { file: 'src/server.ts', tests: ['test/endpoints/sync-doors.test.ts'] };
const meaning = { file: 'src/writes/call-failures.ts', tests: ['test/rest/map-error.test.ts'] };
const keys = { file: 'src/key-value/store.ts', tests: ['test/key-value/key-value.test.ts'] };

export const doors: readonly Fault[] = [
  { ...poke, name: 'a URL has no query yet', find: "url.includes('?') ? '&' : '?'", replace: "'?'" },
  {
    ...poke,
    name: 'an empty authorization is sent',
    find: 'headers = rep.auth ? { Authorization: rep.auth } : {}',
    replace: "headers = { Authorization: rep.auth ?? '' }",
  },
  {
    ...poke,
    name: 'a stream that cannot be restored has nobody pull',
    find: 'else if (failures === 2) connection.onPoke();',
    replace: '',
  },
  { ...poke, name: 'a refusal is told each time', find: 'if (why === told) return;', replace: '' },
  {
    ...poke,
    name: 'what passes is told as well',
    find: 'status < 500 && !passing.includes(status)',
    replace: 'status > 0',
  },
  {
    file: 'src/poke.ts',
    tests: ['test/poke-silence.test.ts'],
    name: 'credentials are forgotten',
    find: '{ headers, credentials, signal: attempt.signal }',
    replace: "{ headers, credentials: 'same-origin', signal: attempt.signal }",
  },
  {
    name: 'the context of a sample is not told from a user’s',
    file: 'src/view/client-views.ts',
    find: '!(input instanceof SampleInput) || ',
    replace: '',
    tests: ['test/view/client-views.test.ts'],
  },
  {
    name: 'a single client is taken for a pool',
    file: 'src/db/pg.ts',
    find: 'isClient && Number.isInteger(',
    replace: 'isClient || Number.isInteger(',
    tests: ['test/db/pg.test.ts'],
  },
  {
    name: 'the validators of zod 3 are converted',
    file: 'src/openapi/schemas/converters.ts',
    find: "if (!('_zod' in validator)) throw new Error(needsZod4);",
    replace: '',
    tests: ['test/openapi/zod-3.test.ts'],
  },
  {
    ...hooks,
    name: 'a hook outlives its context',
    find: 'if (ctx.expiresAt && ctx.expiresAt.getTime() <= Date.now()) return listener.end();',
    replace: '',
  },
  { ...hooks, file: listeners, name: 'a hook takes no place', find: '    holding.take(1);\n', replace: '' },
  { ...hooks, file: listeners, name: 'a stopped hook keeps its place', find: '      holding.end();\n', replace: '' },
  {
    name: 'the mutations of anybody poke whoever listens for all of a user’s',
    file: 'src/pokes/plan-pokes.ts',
    find: 'users.has(userID)',
    replace: 'users.size > 0',
    tests: ['test/pokes/plan-pokes.test.ts', 'test/endpoints/poke-hooks.test.ts'],
  },
  {
    ...server,
    name: 'callers whom the host names are not counted',
    find: "createHandler(route('*', given), log, requestHooks)",
    replace: "createHandler(route('*', given), log, { observer })",
  },
  {
    name: 'an endpoint is known by its path',
    file: 'src/http/app.ts',
    find: '{ methods, path, label = path, logLevel',
    replace: '{ methods, path: label, logLevel',
    tests: ['test/endpoints/sync-doors.test.ts'],
  },
  {
    name: 'two endpoints share a path',
    file: 'src/endpoints/sync-paths.ts',
    find: 'new Set(paths).size < paths.length',
    replace: 'paths.length > 3',
    tests: ['test/endpoints/sync-doors.test.ts'],
  },
  {
    ...meaning,
    name: 'what is mapped hides what it was about',
    find: "const cause = failure.code === 'internal' ? meant : error;",
    replace: "const cause = failure.code === 'internal' ? meant : undefined;",
  },
  {
    ...meaning,
    name: 'what says itself what it means is mapped',
    find: '!mapError || isMeant(error)',
    replace: '!mapError',
  },
  { ...meaning, name: 'what is mapped is no refusal', find: ' || isMapped };', replace: ' };' },
  {
    name: 'a row that is referred to is a matter of values',
    file: 'src/db/sqlstate.ts',
    find: "  '23503', // foreign_key_violation\n",
    replace: '',
    tests: ['test/rest/map-error.test.ts'],
  },
  {
    ...keys,
    name: 'the rows of others are seen',
    find: "[...conditions, ...fixed].join(' and ')",
    replace: "conditions.join(' and ')",
  },
  {
    ...keys,
    name: 'a value says whose row it is',
    find: '{ ...this.#recordOf(key, value), ...this.#rows.where }',
    replace: '{ ...this.#rows.where, ...this.#recordOf(key, value) }',
  },
  { ...keys, name: 'a value null is none', find: 'isValue(column) ? ', replace: 'false ? ' },
  {
    ...keys,
    name: 'keys are in the order of the language',
    find: '::text collate "C"`;',
    replace: '::text collate "und-x-icu"`;',
  },
];
