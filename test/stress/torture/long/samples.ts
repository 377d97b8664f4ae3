/** Periodic samples of a server's resources, and their growth. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rig } from '../rig/rig.js';

export interface Sample {
  readonly minutes: number;
  readonly rssMB: number;
  readonly heapMB: number;
  /** The size of the change log on disk. */
  readonly logMB: number;
  /** Failed requests of the clients since the previous sample. */
  readonly failures: number;
}

/** Samples the first server until the end. A sample that cannot be taken is left out. */
export async function sampleOn(rig: Rig, everyMs: number, isOver: () => boolean): Promise<Sample[]> {
  const samples: Sample[] = [];
  const started = performance.now();
  const failed = () => rig.tally.unavailable + rig.tally.broken + rig.tally.objections;
  let before = failed();
  for (let n = 1; !isOver(); n++) {
    while (performance.now() - started < n * everyMs && !isOver()) await sleep(100);
    const minutes = (performance.now() - started) / 60_000;
    const size = `select pg_total_relation_size('tidemark.change') / 1048576.0::float8 as mb`;
    const log = await rig.postgres.pool.query<{ mb: number }>(size).catch(() => undefined);
    if (!log) continue;
    const { rssMB, heapMB } = await rig.servers[0]!.state();
    samples.push({ minutes, rssMB, heapMB, logMB: log.rows[0]!.mb, failures: failed() - before });
    before = failed();
  }
  return samples;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The growth of a figure per hour in the second half of the samples. The first half is a warm-up. */
export function growthPerHour(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const half = samples.slice(Math.floor(samples.length / 2));
  const [meanX, meanY] = [mean(half.map(({ minutes }) => minutes)), mean(half.map(of))];
  const across = half.reduce((sum, sample) => sum + (sample.minutes - meanX) * (of(sample) - meanY), 0);
  const along = half.reduce((sum, { minutes }) => sum + (minutes - meanX) ** 2, 0);
  return (60 * across) / along;
}

/** The growth of a figure from the second quarter of the samples to the last. */
export function growth(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return mean(samples.slice(-quarter).map(of)) - mean(samples.slice(quarter, 2 * quarter).map(of));
}
