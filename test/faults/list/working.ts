import type { Fault } from '../fault.js';

const plan = { file: 'src/workers/plan.ts', tests: ['test/workers/plan.test.ts'] };
const handover = { file: 'src/workers/handover.ts', tests: ['test/workers/handover.test.ts'] };
const measuring = { file: 'src/workers/measuring.ts', tests: ['test/workers/measuring.test.ts'] };
const serving = ['test/workers/serving.test.ts'];

/** One server as several processes. */
export const working: readonly Fault[] = [
  {
    ...plan,
    name: 'the pause before a worker is started again does not grow',
    find: 'worker.failures++;',
    replace: '',
  },
  {
    ...plan,
    name: 'a worker that has served for long waits as long as one that has not',
    find: 'if (now - worker.since > steadyMs) worker.failures = 0;',
    replace: '',
  },
  {
    ...plan,
    name: 'all workers go on to be replaced after one that could not be',
    find: `    this.#replacement = undefined;
    const message`,
    replace: '    const message',
  },
  {
    ...plan,
    name: 'a worker is replaced before the one before it has ended',
    find: `    replacement.leaving = old;
    this.#leaving.add(old);
    return [{ do: 'end', process: old }];`,
    replace: `    return [{ do: 'end', process: old }, ...this.#replaceNext(replacement)];`,
  },
  {
    ...handover,
    name: 'what a worker had not taken when it was killed is forgotten',
    find: '      this.#give(given.socket);\n',
    replace: '',
  },
  {
    ...handover,
    name: 'connections that come while there is no worker are forgotten',
    find: 'for (const socket of this.#waiting.splice(0)) this.#give(socket);',
    replace: '',
  },
  {
    ...handover,
    name: 'a worker that is to end is given connections',
    find: 'if (at >= 0) this.#takers.splice(at, 1);',
    replace: '',
  },
  {
    ...measuring,
    name: 'counters fall when a worker ends',
    find: 'this.#remains = await remainsOf([this.#remains, last]);',
    replace: '',
  },
  {
    name: 'what ended workers held goes on to count',
    file: 'src/telemetry/exposition.ts',
    find: '.filter(({ type }) => counts.has(String(type)))',
    replace: '.slice()',
    tests: measuring.tests,
  },
  {
    name: 'what all workers see alike is added up',
    file: 'src/telemetry/prometheus.ts',
    find: "instrument.ofSeveral ?? 'sum'",
    replace: "'sum'",
    tests: measuring.tests,
  },
  {
    name: 'connections that a worker was given have all the time in the world',
    file: 'src/serving.ts',
    find: "if (!this.#adopts) this.server.emit('listening');",
    replace: '',
    tests: serving,
  },
  {
    name: 'a worker breaks off what it was given',
    file: 'src/connections.ts',
    find: 'Promise.all([this.#closeListener(), this.#untilNone()])',
    replace: 'this.#closeListener()',
    tests: serving,
  },
];
