import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../integration/conformance/client/client.js';
import { LargePull } from '../../../integration/conformance/large-pulls.js';
import type { Line } from '../line.js';
import { atMostOf, figure, none, some } from '../results.js';
import { type Rig, withRig } from '../rig/rig.js';
import { addDocuments } from '../rig/schema.js';
import type { Server } from '../rig/server.js';

const sizes = { full: { restarts: 20, clients: 16 }, short: { restarts: 2, clients: 8 } };
const pauseMs = 50;
const endMs = 10_000;
/** About 25 MB, more than sockets buffer. */
const documents = 100_000;
const checkEveryMs = 50;

export const rollingRestarts: Line = {
  line: '14',
  title: 'Rolling restarts by SIGTERM under load, behind a load balancer that checks /readyz every 50 ms',
  pass: 'a server exits within 10 s, even if a client does not read its response; every request succeeds or gets 503 with Retry-After',
  minutes: 4,
  async run(torture) {
    const { restarts, clients } = sizes[torture.size];
    const results = await withRig(torture, async (rig) => {
      const balancer = new Balancer(rig);
      let slowest = 0;
      await addDocuments(rig.postgres.pool, LargePull.user, documents);
      await balancer.check();
      await rig.openClients(clients, balancer.route);
      // Streams of pokes have their own servers, because only requests are judged.
      await rig.underLoad(pauseMs, async () => {
        for (let restart = 1; restart <= restarts; restart++) {
          await rig.served();
          const server = rig.servers[restart % rig.servers.length]!;
          // Every fifth time, one client does not read.
          const unread = restart % 5 === 0 ? new LargePull(server, 'large') : undefined;
          await until(() => unread === undefined || unread.status === 200);
          const startedAt = performance.now();
          await server.stop();
          unread?.giveUp();
          slowest = Math.max(slowest, performance.now() - startedAt);
          await server.start();
          await balancer.sees(server);
          torture.progress(`${restart} of ${restarts} restarts`);
        }
      });
      balancer.close();
      return [
        some('restarts', restarts, restarts),
        none('requests whose connection broke', rig.tally.broken),
        figure('responses 503 with Retry-After', rig.tally.unavailable),
        atMostOf('max. time from SIGTERM to the end of the process', slowest, 'ms', endMs),
        ...(await rig.check()),
      ];
    });
    return { results };
  },
};

/** Routes to the servers that were ready at the last check. */
class Balancer {
  readonly #rig: Rig;
  readonly #timer: NodeJS.Timeout;
  #ready: readonly Server[] = [];

  constructor(rig: Rig) {
    this.#rig = rig;
    this.#timer = setInterval(() => this.check(), checkEveryMs);
  }

  readonly route = (): string => this.#rig.random.pick(this.#ready.length > 0 ? this.#ready : this.#rig.servers).url;

  async check(): Promise<void> {
    const answers = await Promise.all(
      this.#rig.servers.map(({ url }) =>
        fetch(`${url}/readyz`)
          .then(({ ok }) => ok)
          .catch(() => false),
      ),
    );
    this.#ready = this.#rig.servers.filter((_, i) => answers[i]);
  }

  async sees(server: Server): Promise<void> {
    while (!this.#ready.includes(server)) await sleep(checkEveryMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
