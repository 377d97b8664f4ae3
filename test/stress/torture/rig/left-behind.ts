/** Finds what a server still holds after all requests have ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from '../../../../bench/scenario.js';
import { openFilesOf } from '../../../support/open-files.js';
import { none } from '../results.js';
import type { Server } from './server.js';

/** A hanging mutator is ended after half a minute. */
const maxWaitMs = 60_000;

const resourceMetric =
  /^tidemark_(body_memory_bytes|spool_size_bytes|semaphore_running|semaphore_waiting|connections_pending|poke_streams)\b/;

/**
 * Checks that servers release all resources after some time.
 * @throws Error if a server does not respond
 */
export async function judgeLeftBehind(name: string, servers: readonly Server[]): Promise<Result> {
  for (const deadline = Date.now() + maxWaitMs; ; await sleep(100)) {
    const left = (await Promise.all(servers.map(resourcesOf))).flat();
    if (left.length === 0 || Date.now() > deadline) return none(name, left.length, left.join(', '));
  }
}

/** The held resources, from the server's metrics, and its temporary files. */
async function resourcesOf({ url, pid }: Server): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const series = text.split('\n').filter((line) => resourceMetric.test(line));
  if (series.length === 0) throw new Error('The metrics do not say what the server holds');
  const files = openFilesOf(pid).map(({ target }) => target);
  return [
    ...series.filter((line) => !line.endsWith(' 0')),
    ...files.filter((target) => /\/tidemark-[^/]+ \(deleted\)$/.test(target)),
  ];
}
