import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../../../integration/rest/sent.js';
import type { Line } from '../line.js';
import { drawPanels } from '../report/panels.js';
import { atMostOf, none, some } from '../results.js';
import { type Rig, withRig } from '../rig/rig.js';
import { addUsers } from '../rig/schema.js';
import { growthPerHour, type Sample, sampleOn } from './samples.js';

const sizes = { full: { minutes: 60, clients: 20 }, short: { minutes: 0.1, clients: 8 } };
const pauseMs = 500;
/** Short, so that the log is pruned as often as it is written to. */
const retentionSeconds = 300;
const growthMBPerHour = 30;

export const soak: Line = {
  line: 'soak',
  title: 'A mixed load for an hour: clients, REST calls, SQL; changes are kept for five minutes',
  pass: 'the memory of a server, its heap and the change log do not grow, and no request fails',
  minutes: 61,
  async run(torture) {
    const { clients, ...size } = sizes[torture.size];
    const minutes = torture.minutes ?? size.minutes;
    const run = async (rig: Rig) => {
      await addUsers(rig.postgres.pool, ['caller']);
      await rig.openClients(clients);
      let isOver = false;
      const sampling = sampleOn(rig, minutes * 500, () => isOver);
      const others = Promise.all([callOn(rig, () => isOver), writeOn(rig, () => isOver)]);
      await rig.underLoad(pauseMs, async () => {
        for (let minute = 0; minute < minutes; minute += minutes / 10) {
          await sleep(minutes * 6_000);
          torture.progress(`${rig.tally.accepted} pushes, ${rig.tally.pulls} pulls`);
        }
      });
      isOver = true;
      const [failedCalls] = await others;
      const samples = await sampling;
      const { errors } = await rig.servers[0]!.state();
      for (const error of errors.slice(0, 10)) console.error(`  ${error}`);
      const results = [
        some('samples', samples.length, 10),
        ...(await rig.check()),
        none('calls that failed', failedCalls),
        none('errors logged', errors.length),
        none('requests that failed', rig.tally.unavailable + rig.tally.broken),
        atMostOf(
          'growth of the memory',
          growthPerHour(samples, ({ rssMB }) => rssMB),
          'MB/h',
          growthMBPerHour,
        ),
        atMostOf(
          'growth of the heap',
          growthPerHour(samples, ({ heapMB }) => heapMB),
          'MB/h',
          growthMBPerHour,
        ),
        atMostOf(
          'growth of the change log',
          growthPerHour(samples, ({ logMB }) => logMB),
          'MB/h',
          growthMBPerHour,
        ),
      ];
      return { results, charts: { 'reliability-soak.svg': drawSamples(samples) } };
    };
    return withRig(torture, run, { serverOptions: { retentionSeconds } });
  },
};

/** Makes calls until the end, each with an idempotency key. Returns the number of failures. */
async function callOn(rig: Rig, isOver: () => boolean): Promise<number> {
  let failed = 0;
  for (let n = 0; !isOver(); n++) {
    const headers = { Authorization: 'Bearer caller', 'Idempotency-Key': `"${n}"` };
    const body = JSON.stringify({ clientID: 'caller', n });
    const { status } = await send(rig.anyServer(), { path: '/api/mutators/count', headers, body });
    if (status !== 200) failed++;
    await sleep(50);
  }
  return failed;
}

/** Writes directly to the database, to rows of all users, until the end. */
async function writeOn({ postgres, random }: Rig, isOver: () => boolean): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const user = `user${random.between(0, 4)}`;
    await postgres.pool.query(
      'insert into document values ($1, $2, $3) on conflict (id) do update set body = excluded.body',
      [`${user} ${n % 100}`, user, `Written ${n}`],
    );
    await sleep(100);
  }
}

function drawSamples(samples: readonly Sample[]): string {
  const panel = (title: string, of: (sample: Sample) => number) => ({
    title,
    points: samples.map((sample) => ({ x: sample.minutes, y: of(sample) })),
  });
  return drawPanels('Soak', 'minutes', [
    panel('Memory of a server, MB', ({ rssMB }) => rssMB),
    panel('Its heap, MB', ({ heapMB }) => heapMB),
    panel('Change log, MB', ({ logMB }) => logMB),
    panel('Requests that failed', ({ failures }) => failures),
  ]);
}
