/** What a server holds, once nobody asks anything of it any more. */
import { readdirSync, readlinkSync } from 'node:fs';
import type { Result } from '../../../bench/scenario.js';
import { until } from '../../conformance/client/client.js';
import { none } from '../results.js';
import type { Server } from './server.js';

/** A mutator that hangs is ended after half a minute. */
const patienceMs = 60_000;

const held =
  /^tidemark_(body_held_bytes|spool_held_bytes|gate_running|gate_waiting|connections_pending|poke_streams)\b/;

/** Whether servers give everything back, after some time. */
export async function judgeLeftBehind(name: string, servers: readonly Server[]): Promise<Result> {
  let left: string[] = [];
  await until(async () => {
    left = (await Promise.all(servers.map(heldBy))).flat();
    return left.length === 0;
  }, patienceMs).catch(() => {});
  return none(name, left.length, left.join(', '));
}

/** What its metrics say that it holds, and its temporary files. */
async function heldBy({ url, pid }: Server): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const series = text.split('\n').filter((line) => held.test(line));
  if (series.length === 0) throw new Error('The metrics do not say what the server holds');
  return [...series.filter((line) => !line.endsWith(' 0')), ...temporaryFilesOf(pid)];
}

function temporaryFilesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const targets = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(`${folder}/${name}`);
    } catch {
      // It has been closed since the folder was read.
      return '';
    }
  });
  return targets.filter((target) => /\/tidemark-[^/]+ \(deleted\)$/.test(target));
}
