import type { Result } from '../../../../bench/scenario.js';
import { until } from '../../../integration/conformance/client/client.js';
import type { Line, Torture } from '../line.js';
import { type Loss, losses } from '../losses/losses.js';
import { none, some } from '../results.js';
import { countDifferent, countFailures } from '../rig/audit.js';
import type { Client } from '../rig/client.js';
import type { Postgres } from '../rig/postgres.js';
import { ChaosProxy } from '../rig/proxy.js';
import { type Rig, withRig } from '../rig/rig.js';
import { countPoor } from '../rig/schema.js';

const sizes = { full: { rounds: 5, clients: 12 }, short: { rounds: 1, clients: 4 } };
const pauseMs = 50;
const timeoutMs = 30_000;

export const restored: Line = {
  line: '6',
  title: 'A restore from files, a restore from a dump, the promotion of a standby: each loses the newest transactions',
  pass: 'every client converges and continues to write; clients that lost mutations continue as new clients',
  minutes: 4,
  async run(torture) {
    const { rounds } = sizes[torture.size];
    const tries: (readonly Result[])[] = [];
    for (const loss of losses) {
      for (let round = 1; round <= rounds; round++) {
        torture.progress(`${loss.name}, ${round} of ${rounds}`);
        tries.push(await tryLoss(loss, { ...torture, seed: torture.seed + round }));
      }
    }
    const sums = tries[0]!.map((result, i) => ({
      ...result,
      value: tries.reduce((sum, one) => sum + one[i]!.value, 0),
    }));
    return { results: [some('databases lost', tries.length, tries.length), ...sums] };
  },
};

/** The servers reach the database through a proxy, like a host name that can be pointed to another host. */
async function tryLoss(loss: Loss, torture: Torture): Promise<Result[]> {
  let proxy: ChaosProxy | undefined;
  let after: Postgres | undefined;
  const through = async (databaseURL: string) => {
    const url = new URL(databaseURL);
    proxy = await ChaosProxy.open(Number(url.port));
    url.port = new URL(proxy.url).port;
    return url.href;
  };
  const work = async (rig: Rig) => {
    await rig.openClients(sizes[torture.size].clients);
    const write = async () => {
      await rig.underLoad(pauseMs, () => rig.served());
      await countFailures(rig.clients, confirmed);
    };
    await write();
    after = await loss.lose(rig, write);
    proxy!.target = Number(new URL(after.url).port);
    proxy!.cut();
    return judge(rig, after);
  };
  try {
    return await withRig(torture, work, { through });
  } finally {
    proxy?.close();
    await after?.remove();
  }
}

function confirmed({ sync }: Client): Promise<void> {
  return until(async () => (await sync.pending()) === 0, timeoutMs);
}

/** Makes every client write once more. */
async function judge(rig: Rig, after: Postgres): Promise<Result[]> {
  const { clients, tally, servers } = rig;
  const ends = await Promise.allSettled(clients.map(writeOn));
  const successors = ends.map((end, i) => (end.status === 'fulfilled' ? end.value : clients[i]!));
  const lost = successors.filter((one, i) => one !== clients[i]).length;
  clients.splice(0, clients.length, ...successors);
  const different = await countDifferent(servers[0]!, clients);
  for (const what of tally.messages) console.error(`  ${what}`);
  return [
    some('clients whose mutations were lost', lost),
    none('clients stuck', ends.filter(({ status }) => status === 'rejected').length),
    none('clients that differ from a full read', different),
    none('users whose accounts do not sum up', await countPoor(after.pool)),
    none('objections', tally.objections),
  ];
}

/** Writes until the write is confirmed. If the server has lost the client's earlier writes, its successor writes. */
async function writeOn(client: Client): Promise<Client> {
  await client.mutate();
  await until(async () => client.isLost || (await client.sync.pending()) === 0, timeoutMs);
  return client.isLost ? writeOn(await client.reopen()) : client;
}
