import { expect, it } from 'vitest';
import { Prometheus } from '../telemetry/prometheus.js';
import { MetricsCollector } from './metrics-collector.js';

const setUp = () => {
  const collector = new MetricsCollector();
  const start = () => {
    const prometheus = new Prometheus();
    const read = () =>
      prometheus.measurements([
        { name: 'tidemark.poke.streams', value: 2 },
        { name: 'tidemark.change_log.rows', value: 7 },
      ]);
    const process = {
      prometheus,
      measure: async (id: number) => collector.recordAnswer(process, id, await read()),
      end: async () => {
        collector.record(process, await read());
        collector.retire(process);
      },
    };
    collector.add(process);
    return process;
  };
  const value = async (name: string) => {
    const line = (await collector.expose()).text.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.split(' ')[1]);
  };
  return { collector, start, value };
};

it('adds up the values of the processes, and takes the maximum of those that all of them share', async () => {
  const { start, value } = setUp();
  const [one, other] = [start(), start()];
  one.prometheus.record('tidemark.poke.sent', 3, {});
  one.prometheus.record('tidemark.push.mutations', 5, {});
  other.prometheus.record('tidemark.poke.sent', 4, {});
  other.prometheus.record('tidemark.push.mutations', 5, {});
  expect(await value('tidemark_poke_sent_total')).toBe(7);
  expect(await value('tidemark_push_mutations_count')).toBe(2);
  expect(await value('tidemark_push_mutations_sum')).toBe(10);
  expect(await value('tidemark_poke_streams')).toBe(4);
  expect(await value('tidemark_change_log_rows')).toBe(7);
  // In this test, all workers share one process.
  expect(await value('process_start_time_seconds')).toBeCloseTo(Date.now() / 1000 - process.uptime(), -1);
});

it('keeps the counters of a process that has ended', async () => {
  const { start, value } = setUp();
  const ending = [start(), start()];
  for (const one of ending) one.prometheus.record('tidemark.poke.sent', 3, {});
  start().prometheus.record('tidemark.poke.sent', 1, {});
  for (const one of ending) await one.end();
  expect(await value('tidemark_poke_sent_total')).toBe(7);
  expect(await value('tidemark_poke_streams')).toBe(2);
});

it('does not wait for a process that ends without an answer, and counts its last values', async () => {
  const { collector, start, value } = setUp();
  const one = start();
  one.prometheus.record('tidemark.poke.sent', 3, {});
  await value('tidemark_poke_sent_total');
  one.measure = async () => collector.retire(one);
  start();
  expect(await value('tidemark_poke_sent_total')).toBe(3);
});
