import { expect, it } from 'vitest';
import { Prometheus } from '../telemetry/prometheus.js';
import { Measuring } from './measuring.js';

const measuring = () => {
  const all = new Measuring();
  const start = () => {
    const prometheus = new Prometheus();
    const read = () =>
      prometheus.measurements([
        { name: 'tidemark.poke.streams', value: 2 },
        { name: 'tidemark.change_log.rows', value: 7 },
      ]);
    const process = {
      prometheus,
      measure: async (id: number) => all.answered(process, id, await read()),
      end: async () => {
        all.note(process, await read());
        all.ended(process);
      },
    };
    all.add(process);
    return process;
  };
  const value = async (name: string) => {
    const line = (await all.expose()).text.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.split(' ')[1]);
  };
  return { all, start, value };
};

it('adds up what the processes count, and what they hold; of what all see alike, it says the most', async () => {
  const { start, value } = measuring();
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
  // Here, all processes are one.
  expect(await value('process_start_time_seconds')).toBeCloseTo(Date.now() / 1000 - process.uptime(), -1);
});

it('goes on counting when a process has ended, as Prometheus expects of a counter', async () => {
  const { start, value } = measuring();
  const gone = [start(), start()];
  for (const one of gone) one.prometheus.record('tidemark.poke.sent', 3, {});
  start().prometheus.record('tidemark.poke.sent', 1, {});
  for (const one of gone) await one.end();
  expect(await value('tidemark_poke_sent_total')).toBe(7);
  expect(await value('tidemark_poke_streams')).toBe(2);
});

it('does not wait for a process that ends without an answer, and counts what it said last', async () => {
  const { all, start, value } = measuring();
  const one = start();
  one.prometheus.record('tidemark.poke.sent', 3, {});
  await value('tidemark_poke_sent_total');
  one.measure = async () => all.ended(one);
  start();
  expect(await value('tidemark_poke_sent_total')).toBe(3);
});
