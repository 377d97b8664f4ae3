/** Prometheus's own checker of metrics, rules and expressions. If it is missing, tests are skipped, except in CI. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export const promtoolIsMissing: boolean =
  !process.env.CI && !(process.env.PATH ?? '').split(':').some((folder) => existsSync(`${folder}/promtool`));

/**
 * Runs promtool.
 * @returns its output
 * @throws Error with the problems that it found
 */
export function promtool(args: readonly string[], input = ''): string {
  return execFileSync('promtool', args, { input, encoding: 'utf8', stdio: 'pipe' });
}
