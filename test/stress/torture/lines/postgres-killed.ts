import { setTimeout as sleep } from 'node:timers/promises';
import type { Line } from '../line.js';
import { some } from '../results.js';
import { withRig } from '../rig/rig.js';

const sizes = { full: { kills: 50, clients: 16 }, short: { kills: 3, clients: 8 } };
const pauseMs = 100;

/** Every third time, only a backend is killed, and Postgres recovers automatically. */
export const postgresKilled: Line = {
  line: '1',
  title: 'SIGKILL to Postgres under load; a fifth of the pushes are delivered twice',
  pass: 'no mutation is lost or applied twice, no client is stuck, each pull is one snapshot',
  minutes: 4,
  async run(torture) {
    const { kills, clients } = sizes[torture.size];
    const results = await withRig(torture, async (rig) => {
      const { postgres, random } = rig;
      await rig.openClients(clients);
      await rig.underLoad(pauseMs, async () => {
        for (let kill = 1; kill <= kills; kill++) {
          await rig.served();
          await sleep(random.between(0, 300));
          if (kill % 3 === 0) await postgres.killBackend();
          else await postgres.kill().then(() => postgres.start());
          torture.progress(`${kill} of ${kills} kills`);
        }
        await rig.served();
      });
      return rig.check();
    });
    return { results: [some('kills of Postgres', kills, kills), ...results] };
  },
};
