import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from '../../../../bench/scenario.js';
import { until } from '../../../integration/conformance/client/client.js';
import type { Line } from '../line.js';
import { atMostOf, some } from '../results.js';
import { countDifferent } from '../rig/audit.js';
import { ChaosProxy, faults } from '../rig/proxy.js';
import { type Rig, withRig } from '../rig/rig.js';

const sizes = { full: { rounds: 24, clients: 50, pauseMs: 1_000 }, short: { rounds: 4, clients: 12, pauseMs: 300 } };
const healedMs = 5_000;

/** One fault after another. While one proxy has a fault, the other may have another one. */
export const chaosProxy: Line = {
  line: '10',
  title: 'A network between the clients and two servers that delays, slices, resets and half-opens connections',
  pass: 'all clients converge within 5 s after the network recovers, no mutation is lost or applied twice',
  minutes: 3,
  async run(torture) {
    const { rounds, clients, pauseMs } = sizes[torture.size];
    const results = await withRig(torture, async (rig) => {
      const proxies = await openProxies(rig);
      try {
        await rig.openClients(clients, () => rig.random.pick(proxies).url);
        await rig.underLoad(pauseMs, async () => {
          for (let round = 0; round < rounds; round++) {
            await rig.served();
            proxies[round % 2]!.break(faults[round % faults.length]!);
            if (rig.random.chance(0.3)) proxies[(round + 1) % 2]!.break(rig.random.pick(faults));
            await sleep(rig.random.between(500, 3_000));
            for (const proxy of proxies) proxy.heal();
            torture.progress(`${round + 1} of ${rounds} faults`);
          }
          // The last fault is still present when all clients stop writing.
          for (const proxy of proxies) proxy.break('half-open');
          await sleep(1_000);
        });
        return await judgeHealing(rig, proxies);
      } finally {
        for (const proxy of proxies) proxy.close();
      }
    });
    return { results: [some('network faults', rounds, rounds), ...results] };
  },
};

export function openProxies({ servers, random }: Rig): Promise<ChaosProxy[]> {
  return Promise.all(servers.map(({ url }, i) => ChaosProxy.open(Number(new URL(url).port), random.stream(1000 + i))));
}

/** Heals the network, and measures how soon every client holds the server's rows. */
export async function judgeHealing(rig: Rig, proxies: readonly ChaosProxy[]): Promise<Result[]> {
  const healed = performance.now();
  for (const proxy of proxies) proxy.heal();
  const confirmed = rig.clients.map(({ sync }) => until(async () => (await sync.pending()) === 0, healedMs));
  const late = (await Promise.allSettled(confirmed)).filter(({ status }) => status === 'rejected').length;
  const different = await countDifferent(rig.servers[0]!, rig.clients, healedMs - (performance.now() - healed));
  const ms = performance.now() - healed;
  return [
    atMostOf('time until all clients converged', ms, 'ms', healedMs),
    atMostOf('clients behind 5 s after recovery', late + different, 'clients', 0),
    ...(await rig.check()),
  ];
}
