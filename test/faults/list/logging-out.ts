/** What is held open for a user whose authorization is withdrawn. */
import type { Fault } from '../fault.js';

const logout = { tests: ['test/endpoints/logout.test.ts'] };
const authorization = { ...logout, file: 'src/endpoints/listening/authorization.ts' };

export const loggingOut: readonly Fault[] = [
  {
    ...authorization,
    name: 'what was withdrawn before somebody listened goes unnoticed',
    find: '    await this.#confirmNow();\n    this.#wait();',
    replace: '    this.#confirmedAt = performance.now();\n    this.#wait();',
  },
  {
    ...authorization,
    name: 'an authorization is confirmed once',
    find: 'void this.#confirmOrEnd(), Math.min(ms, longestTimerMs)',
    replace: 'void this.#options, Math.min(ms, longestTimerMs)',
  },
  {
    ...authorization,
    name: 'rows are sent however old the authorization is',
    find: 'performance.now() - this.#confirmedAt < maxAgeMs;',
    replace: 'this.#confirmedAt > Number.NEGATIVE_INFINITY;',
  },
  {
    ...authorization,
    name: 'another user takes over a stream',
    find: 'if (context.userID !== this.#context.userID)',
    replace: "if (context.userID === '')",
  },
  {
    ...authorization,
    name: 'a stream ends when authenticate fails',
    find: "return status < 500 && code !== 'too-many-requests';",
    replace: "return status > 0 && code !== 'unavailable';",
  },
  {
    ...logout,
    file: 'src/http/identify.ts',
    name: 'what is asked again about a stream counts as a request',
    find: 'return contextOf(new Request(url, { method, headers }), authenticate, log);',
    replace: `const again = await contextOf(new Request(url, { method, headers }), authenticate, log);
      await admitUser?.(again);
      return again;`,
  },
  {
    ...logout,
    file: 'src/endpoints/views/view-streams.ts',
    name: 'a stream keeps the role that its user has lost',
    find: '{ ...this.#caller, context: this.#watch.context }',
    replace: 'this.#caller',
  },
  {
    tests: ['test/pokes/tail.test.ts'],
    file: 'src/window/looks.ts',
    name: 'disconnected users are looked for separately',
    find: '[...tableIDs, disconnectsID]',
    replace: 'tableIDs',
  },
  {
    ...logout,
    file: 'sql/0001-initial.sql',
    name: 'snapshots have not seen that a user was disconnected',
    find: ' union all select -1) t',
    replace: ') t',
  },
];
