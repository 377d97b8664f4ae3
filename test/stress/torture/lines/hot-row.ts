import { mutation, push } from '../../../integration/conformance/wire.js';
import type { Line } from '../line.js';
import { figure, none, some } from '../results.js';
import { type Rig, withRig } from '../rig/rig.js';

const sizes = { full: { writers: 64, each: 100 }, short: { writers: 64, each: 5 } };

export const hotRow: Line = {
  line: '9',
  title: '64 writers of one row, on two servers, each sending one mutation after the other',
  pass: 'no client sees a conflict, and each mutation counts once',
  minutes: 2,
  async run(torture) {
    const { writers, each } = sizes[torture.size];
    const results = await withRig(torture, async (rig) => {
      const started = performance.now();
      const ends = await Promise.all(Array.from({ length: writers }, (_, i) => write(rig, `writer ${i}`, each)));
      const seconds = (performance.now() - started) / 1000;
      const { rows } = await rig.postgres.pool.query<{ n: number }>('select n from hot');
      const refused = ends.flat();
      for (const text of new Set(refused)) console.error(`  ${text}`);
      return [
        some('mutations', writers * each),
        figure('mutations of the row per second', (writers * each) / seconds, '/s'),
        none('pushes that were refused', refused.length),
        none('mutations lost or applied twice', Math.abs(writers * each - rows[0]!.n)),
      ];
    });
    return { results };
  },
};

/** Returns the incorrect responses. */
async function write(rig: Rig, writer: string, count: number): Promise<string[]> {
  const refused: string[] = [];
  for (let id = 1; id <= count; ) {
    const { status, text } = await push({ url: rig.anyServer() }, writer, [mutation(id, 'hit', null, writer)], {
      clientGroupID: writer,
    });
    if (status === 200 && text === '{}') id++;
    else refused.push(`${status} ${text.replace(/"requestID":"[^"]*"/, '')}`);
    if (refused.length > count) break;
  }
  return refused;
}
