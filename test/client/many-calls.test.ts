import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { UnconfirmedKeys } from '../../src/client/sync/unconfirmed.js';
import { useApplication } from './application.js';

const application = useApplication();

/** How many comparisons, and writes to the store, of all that is pending are running: their number depends on the time. */
let others = 0;
beforeEach(() => {
  const { compare } = UnconfirmedKeys.prototype;
  vi.spyOn(UnconfirmedKeys.prototype, 'compare').mockImplementation(async function (this: UnconfirmedKeys) {
    others++;
    await compare.call(this).finally(() => others--);
  });
});
afterEach(() => void vi.restoreAllMocks());

it.each([false, true])(
  'an offline call reads as much after thousands as at first, with unconfirmed rows: %s',
  async (marks) => {
    const { client: ann, engine } = application.open();
    const { memdag } = engine;
    const persist = engine.persist.bind(engine);
    engine.persist = async () => {
      others++;
      await persist().finally(() => others--);
    };
    let chunks = 0;
    const read = memdag.read.bind(memdag);
    memdag.read = async () => {
      const reading = (await read()) as unknown as { getChunk(hash: string): Promise<unknown> };
      const getChunk = reading.getChunk.bind(reading);
      reading.getChunk = (hash) => {
        if (others === 0) chunks++;
        return getChunk(hash);
      };
      return reading as never;
    };
    await expect.poll(() => ann.status.get().state).toBe('online');
    ann.setOnline(false);
    await ann.mutate.list.create({ id: 'a', name: 'A' });
    const unconfirmed = ann.view('todo').observeUnconfirmed();
    const stop = marks ? unconfirmed.subscribe(() => {}) : () => {};
    const counts: number[] = [];
    for (let part = 0; part < 8; part++) {
      const before = chunks;
      for (let i = 0; i < 500; i++) {
        const id = `${part} ${i}`;
        await ann.mutate.todo.create({ id, listID: 'a', title: id, sort: 1 });
      }
      counts.push(chunks - before);
    }
    expect(ann.pending.get()).toHaveLength(4001);
    if (marks) await expect.poll(() => unconfirmed.get().size, { timeout: 5000 }).toBe(4000);
    stop();
    // The tree of the rows grows, so a call that compares reads a little more.
    expect(Math.max(...counts.slice(1)) / counts[0]!).toBeLessThan(2);
    await ann.close();
  },
  60_000,
);
