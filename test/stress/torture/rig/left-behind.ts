/** What a server holds, once nobody asks anything of it any more. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from '../../../../bench/scenario.js';
import { openFilesOf } from '../../../support/open-files.js';
import { none } from '../results.js';
import type { Server } from './server.js';

/** A mutator that hangs is ended after half a minute. */
const patienceMs = 60_000;

const held =
  /^tidemark_(body_held_bytes|spool_held_bytes|gate_running|gate_waiting|connections_pending|poke_streams)\b/;

/**
 * Whether servers give everything back, after some time.
 * @throws Error if one of them does not say
 */
export async function judgeLeftBehind(name: string, servers: readonly Server[]): Promise<Result> {
  for (const deadline = Date.now() + patienceMs; ; await sleep(100)) {
    const left = (await Promise.all(servers.map(heldBy))).flat();
    if (left.length === 0 || Date.now() > deadline) return none(name, left.length, left.join(', '));
  }
}

/** What its metrics say that it holds, and its temporary files. */
async function heldBy({ url, pid }: Server): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const series = text.split('\n').filter((line) => held.test(line));
  if (series.length === 0) throw new Error('The metrics do not say what the server holds');
  const files = openFilesOf(pid).map(({ target }) => target);
  return [
    ...series.filter((line) => !line.endsWith(' 0')),
    ...files.filter((target) => /\/tidemark-[^/]+ \(deleted\)$/.test(target)),
  ];
}
