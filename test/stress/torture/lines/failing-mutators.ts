import type { Result } from '../../../../bench/scenario.js';
import { until } from '../../../integration/conformance/client/client.js';
import type { Line } from '../line.js';
import { atMostOf, none, some } from '../results.js';
import { type Rig, withRig } from '../rig/rig.js';
import { Tally } from '../rig/tally.js';

const sizes = { full: { rounds: 10 }, short: { rounds: 1 } };
const resumedMs = 1_000;
const setup = 'create table guarded_late (id int, unique (id) deferrable initially deferred)';

type Way = 'permanent' | 'transient';

/** Each kind of failure has its own clients, which mutate, fail, and mutate again. */
export const failingMutators: Line = {
  line: '8',
  title: 'Mutators that fail permanently, in 13 ways, and mutators that fail twice, in 12 ways',
  pass: 'the server skips every permanent failure and no transient one, and confirms the next mutation within 1 s',
  minutes: 3,
  async run(torture) {
    const { kinds } = await import(/* @vite-ignore */ new URL('../rig/failures.mjs', import.meta.url).href);
    const run = async (rig: Rig) => [
      ...(await tryAll(rig, 'permanent', kinds.permanent, sizes[torture.size].rounds)),
      ...(await tryAll(rig, 'transient', kinds.transient, sizes[torture.size].rounds)),
    ];
    // Mutators that fail temporarily count their failures in the memory of one process.
    return { results: await withRig(torture, run, { servers: 1, setup }) };
  },
};

async function tryAll(rig: Rig, way: Way, kinds: readonly string[], rounds: number): Promise<Result[]> {
  // A skipped mutation leaves no trace, which the clients' own rules do not expect.
  const tally = new Tally();
  let [wrong, slowest] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      const { effects, ms } = await tryOne(rig, { way, kind, tally });
      const expected = way === 'permanent' ? '1,3' : '1,2,3';
      if (effects !== expected) console.error(`  ${kind}: the mutations ${effects} have run, not ${expected}`);
      if (effects !== expected) wrong++;
      slowest = Math.max(slowest, ms);
    }
  }
  return [
    some(`${way} failures`, kinds.length * rounds, kinds.length * rounds),
    none(way === 'permanent' ? 'of these, not skipped' : 'of these, skipped', wrong),
    way === 'permanent'
      ? none('pushes answered with 503', tally.unavailable)
      : some('pushes answered with 503', tally.unavailable),
    atMostOf(`${way} failures: max. time until the next mutation was confirmed`, slowest, 'ms', resumedMs),
  ];
}

interface Try {
  readonly way: Way;
  readonly kind: string;
  readonly tally: Tally;
}

async function tryOne(rig: Rig, { way, kind, tally }: Try): Promise<{ effects: string; ms: number }> {
  const client = await rig.openClient(`${way} ${kind}`, { tally });
  const untilConfirmed = () => until(async () => (await client.sync.pending()) === 0, 30_000).catch(() => {});
  await client.mutate();
  await untilConfirmed();
  const started = performance.now();
  await client.mutate(`fail.${way}`, { kind });
  await client.mutate();
  await untilConfirmed();
  const ms = performance.now() - started;
  const { rows } = await rig.postgres.pool.query<{ n: number }>(
    'select n from effect where client_id = $1 order by n',
    [client.id],
  );
  await client.close();
  return { ms, effects: rows.map(({ n }) => n).join() };
}
