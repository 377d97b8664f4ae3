import { expect, it } from 'vitest';
import { useApplication } from './application.js';

const application = useApplication();

/** The number of calls in each of the eight parts. */
const size = 500;

it.each([false, true])(
  'an offline call reads as much after thousands of calls as at first (unconfirmed rows observed: %s)',
  async (marks) => {
    const { client: ann, engine } = application.open();
    let chunks = 0;
    const { memdag } = engine;
    const read = memdag.read.bind(memdag);
    memdag.read = async () => {
      const reading = (await read()) as unknown as { getChunk(hash: string): Promise<unknown> };
      const getChunk = reading.getChunk.bind(reading);
      reading.getChunk = (hash) => {
        chunks++;
        return getChunk(hash);
      };
      return reading as never;
    };
    await expect.poll(() => ann.status.get().state).toBe('online');
    ann.setOnline(false);
    await ann.mutate.list.create({ id: 'a', name: 'A' });
    const unconfirmed = ann.view('todo').observeUnconfirmed();
    const stop = marks ? unconfirmed.subscribe(() => {}) : () => {};
    const parts: number[] = [];
    for (let part = 0; part < 8; part++) {
      const counts: number[] = [];
      for (let i = 0; i < size; i++) {
        const before = chunks;
        const id = `${part} ${i}`;
        await ann.mutate.todo.create({ id, listID: 'a', title: id, sort: 1 });
        counts.push(chunks - before);
      }
      counts.sort((a, b) => a - b);
      // Timers start comparisons and store writes, which read all mutations. The 90th percentile excludes these calls.
      parts.push(counts[size * 0.9]!);
    }
    expect(ann.pending.get()).toHaveLength(8 * size + 1);
    if (marks) await expect.poll(() => unconfirmed.get().size, { timeout: 5000 }).toBe(8 * size);
    stop();
    // The tree of the rows grows, so a call that compares reads slightly more.
    expect(Math.max(...parts) / parts[0]!, parts.join(' ')).toBeLessThan(2);
    await ann.close();
  },
  60_000,
);
