import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../integration/conformance/client/client.js';
import { LargePull } from '../../../integration/conformance/large-pulls.js';
import type { Line } from '../line.js';
import { none, some } from '../results.js';
import { withRig } from '../rig/rig.js';
import { addDocuments } from '../rig/schema.js';
import type { Server } from '../rig/server.js';

const sizes = { full: { kills: 100, clients: 16 }, short: { kills: 3, clients: 8 } };
const pauseMs = 100;
/** About 25 MB, more than sockets buffer, so its pull is still under way when its server is killed. */
const documents = 100_000;

/** Every second time, the server is killed in the middle of a response. */
export const serversKilled: Line = {
  line: '2',
  title: 'SIGKILL to one of two servers under load, also in the middle of a response',
  pass: 'no mutation is lost or applied twice, no client is stuck, each pull is one snapshot, no truncated response looks complete',
  minutes: 6,
  async run(torture) {
    const { kills, clients } = sizes[torture.size];
    const results = await withRig(torture, async (rig) => {
      const cut = { whole: 0, broken: 0 };
      await addDocuments(rig.postgres.pool, LargePull.user, documents);
      await rig.openClients(clients);
      await rig.underLoad(pauseMs, async () => {
        for (let kill = 1; kill <= kills; kill++) {
          const server = rig.random.pick(rig.servers);
          await rig.served();
          if (kill % 2 === 0) cut[await killInResponse(server)]++;
          else await sleep(rig.random.between(0, 200)).then(() => server.kill());
          await server.start();
          torture.progress(`${kill} of ${kills} kills`);
        }
        await rig.served();
      });
      return [
        some('responses truncated', cut.broken),
        none('truncated responses that look complete', cut.whole),
        ...(await rig.check()),
      ];
    });
    return { results: [some('kills of servers', kills, kills), ...results] };
  },
};

/** Kills a server once it has begun a large response, and returns how the response ended. */
async function killInResponse(server: Server): Promise<'whole' | 'broken'> {
  const pull = new LargePull(server, 'large');
  await until(() => pull.status === 200);
  await server.kill();
  const { ops } = await pull.read().catch(() => ({ ops: -1 }));
  return ops === -1 ? 'broken' : 'whole';
}
