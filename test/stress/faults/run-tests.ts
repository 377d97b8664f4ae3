import { fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Objection } from './objections.js';

/** The outcome of a test run. */
export interface Outcome {
  /** The first one counts, unless it is a timeout. */
  readonly objections: readonly Objection[];
  /** Until the first objection that counts, or until the end. */
  readonly seconds: number;
  /** True if all tests ran and passed. */
  readonly isGreen: boolean;
  /** The output on standard error. */
  readonly printed: string;
}

/** All projects whose tests need no browser. */
const projects = ['unit', 'integration', 'long', 'long alone', 'nightly', 'nightly alone'];
const reporter = fileURLToPath(new URL('objections.ts', import.meta.url));
/** A test file that takes longer hangs. */
const limitMs = 5 * 60_000;
const hung: Objection = {
  test: 'the run as a whole',
  message: 'it had no end within five minutes a file',
  isTimeout: true,
};

/** Runs test files in a copy of the tree, on their own Postgres. */
export async function runTests(folder: string, tests: readonly string[]): Promise<Outcome> {
  const started = performance.now();
  const secondsSince = () => (performance.now() - started) / 1000;
  const args = [
    'run',
    '--root',
    folder,
    ...projects.flatMap((name) => ['--project', name]),
    '--reporter',
    reporter,
    ...tests,
  ];
  const vitest = fork(join(folder, 'node_modules', 'vitest', 'vitest.mjs'), args, {
    cwd: folder,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: tests.length * limitMs,
  });
  let printed = '';
  vitest.stderr!.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const objections: Objection[] = [];
  let seconds: number | undefined;
  vitest.on('message', (objection: Objection) => {
    objections.push(objection);
    if (!objection.isTimeout) seconds ??= secondsSince();
  });
  const code = await new Promise((resolve) => vitest.once('close', resolve));
  if (vitest.killed) objections.push(hung);
  return { objections, seconds: seconds ?? secondsSince(), isGreen: code === 0, printed };
}

export type Verdict =
  | { readonly kind: 'caught'; readonly by: Objection }
  /** Every test passed. */
  | { readonly kind: 'survived' }
  /** Tests timed out, and no other test objected. */
  | { readonly kind: 'timed out'; readonly by: Objection }
  /** The tests could not be run. */
  | { readonly kind: 'not run'; readonly reason: string };

export function judge({ objections, isGreen, printed }: Outcome): Verdict {
  const caughtBy = objections.find(({ isTimeout }) => !isTimeout);
  if (caughtBy) return { kind: 'caught', by: caughtBy };
  const [first] = objections;
  if (first) return { kind: 'timed out', by: first };
  return isGreen ? { kind: 'survived' } : { kind: 'not run', reason: printed };
}
