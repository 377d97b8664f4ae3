/** Prometheus's own judge of metrics, rules and expressions. Where it is missing, tests are skipped, but not in CI. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export const promtoolIsMissing: boolean =
  !process.env.CI && !(process.env.PATH ?? '').split(':').some((folder) => existsSync(`${folder}/promtool`));

/**
 * Runs it.
 * @returns what it printed
 * @throws Error with what it found wrong
 */
export function promtool(args: readonly string[], input = ''): string {
  return execFileSync('promtool', args, { input, encoding: 'utf8', stdio: 'pipe' });
}
