import type { Line } from '../line.js';
import { judgeHealing, openProxies } from '../lines/chaos-proxy.js';
import { atMostOf, figure, some } from '../results.js';
import { withRig } from '../rig/rig.js';
import { addDocuments, addUsers } from '../rig/schema.js';
import { growth, sampleOn } from './samples.js';
import { makeTroubles } from './troubles.js';

const sizes = {
  full: { minutes: 10, clients: 50, pauseMs: 1_000 },
  short: { minutes: 0.25, clients: 10, pauseMs: 300 },
};
const documents = 20_000;
const growthMB = 60;

export const chaos: Line = {
  line: 'chaos',
  title:
    '50 clients, a network that delays, cuts, slices and half opens, kills of a server and of Postgres, DDL, a slow reader, a flood',
  pass: 'every client holds what the server has 5 s after the end, no mutation is lost or applied twice, memory is flat',
  minutes: 11,
  async run(torture) {
    const { clients, pauseMs, ...size } = sizes[torture.size];
    const minutes = torture.minutes ?? size.minutes;
    const results = await withRig(torture, async (rig) => {
      const proxies = await openProxies(rig);
      try {
        await addDocuments(rig.postgres.pool, 'reader', documents);
        await addUsers(rig.postgres.pool, ['flooder']);
        await rig.openClients(clients, () => rig.random.pick(proxies).url);
        let isOver = false;
        let counts = new Map<string, number>();
        const sampling = sampleOn(rig, minutes * 2_000, () => isOver);
        await rig.underLoad(pauseMs, async () => {
          counts = await makeTroubles({ rig, proxies }, performance.now() + minutes * 60_000);
        });
        isOver = true;
        const samples = await sampling;
        torture.progress('healed');
        return [
          ...[...counts].map(([name, count]) =>
            figure(
              name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`),
              count,
            ),
          ),
          some(
            'troubles',
            [...counts.values()].reduce((sum, count) => sum + count, 0),
            Math.ceil(minutes * 10),
          ),
          ...(await judgeHealing(rig, proxies)),
          atMostOf(
            'growth of the memory of the server that was not killed',
            growth(samples, ({ rssMB }) => rssMB),
            'MB',
            growthMB,
          ),
        ];
      } finally {
        for (const proxy of proxies) proxy.close();
      }
    });
    return { results };
  },
};

export const ownChaos: Line = {
  ...chaos,
  line: 'client',
  title: 'The chaos of the line above, of which the clients have the engine of `@tidemark/client`',
  run: (torture) => chaos.run({ ...torture, engine: 'tidemark' }),
};
