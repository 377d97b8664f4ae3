import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from '../../../../bench/scenario.js';
import { createSigner, type KeyServer, type Signer, serveKeys, sign } from '../../../integration/auth/tokens.js';
import { pullBody, send } from '../../../integration/conformance/wire.js';
import type { Line } from '../line.js';
import { atMostOf, figure, none, some } from '../results.js';
import { type Rig, withRig } from '../rig/rig.js';
import type { Server } from '../rig/server.js';

const sizes = { full: { rotations: 6, outageMs: 10_000 }, short: { rotations: 1, outageMs: 2_000 } };
/** An issuer publishes a key this long before it signs with it, because servers fetch unknown keys every 30 s. */
const publishedMs = 31_000;
/** The minimum pause between a server's requests for keys. */
const minPauseMs = 5_000;
const pauseMs = 20;
const pullMs = 1_000;

const outages: readonly [string, KeyServer['onRequest']][] = [
  ['its server hangs', () => {}],
  ['its server fails', (_, response) => response.writeHead(500).end()],
  ['its server breaks off', (request) => request.socket.destroy()],
];

export const rotatedKeys: Line = {
  line: '13',
  title: 'An issuer of tokens rotates its keys, and its key server fails in between, under a flood of unknown keys',
  pass: 'the servers accept every valid token, also with a new key, and no other token; they rarely fetch keys, whatever is sent',
  minutes: 5,
  async run(torture) {
    const { rotations, outageMs } = sizes[torture.size];
    let signer = createSigner();
    const keys = await serveKeys(signer);
    const run = async ({ servers }: Rig): Promise<Result[]> => {
      const traffic = new Traffic(servers);
      const started = performance.now();
      await traffic.valid(signer);
      for (let rotation = 1; rotation <= rotations; rotation++) {
        const [name, onRequest] = outages[rotation % outages.length]!;
        torture.progress(`${rotation} of ${rotations} rotations, after which ${name}`);
        keys.onRequest = onRequest;
        await traffic.flow(signer, outageMs);
        keys.onRequest = undefined;
        const next = createSigner();
        keys.signers = [signer, next];
        await traffic.flow(signer, publishedMs);
        await traffic.valid(next);
        await traffic.valid(signer);
        keys.signers = [next];
        signer = next;
      }
      const maxRequests = servers.length * (1 + (performance.now() - started) / minPauseMs);
      return [
        some('rotations', rotations, rotations),
        some('valid tokens', traffic.valids),
        none('of these, refused', traffic.refused),
        some('tokens of unknown keys', traffic.unknowns),
        none('of these, not answered with 401, or 503 with Retry-After', traffic.admitted),
        none('requests for keys above one per server every 5 s', Math.max(0, keys.asked.length - maxRequests)),
        figure('requests for keys', keys.asked.length),
        atMostOf('slowest pull with a valid token', traffic.slowestMs, 'ms', pullMs),
      ];
    };
    try {
      return { results: await withRig(torture, run, { serverOptions: { jwksURL: keys.url } }) };
    } finally {
      await keys.close();
    }
  },
};

/** Pulls with tokens at each server. */
class Traffic {
  readonly #servers: readonly Server[];
  valids = 0;
  refused = 0;
  unknowns = 0;
  admitted = 0;
  slowestMs = 0;

  constructor(servers: readonly Server[]) {
    this.#servers = servers;
  }

  /** Sends valid tokens of a signer one after the other, beside a flood of tokens with unknown keys. */
  async flow(signer: Signer, ms: number): Promise<void> {
    const until = performance.now() + ms;
    const flood: Promise<void>[] = [];
    while (performance.now() < until) {
      flood.push(this.#unknown(signer));
      await this.valid(signer);
      await sleep(pauseMs);
    }
    await Promise.all(flood);
  }

  async valid(signer: Signer): Promise<void> {
    const token = await sign(signer);
    await this.#eachServer(async (server) => {
      const startedAt = performance.now();
      const { status } = await pullWith(server, token);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
      this.valids++;
      if (status !== 200) this.refused++;
    });
  }

  async #unknown(signer: Signer): Promise<void> {
    const token = await sign({ ...signer, kid: randomUUID() });
    await this.#eachServer(async (server) => {
      const { status, headers } = await pullWith(server, token);
      this.unknowns++;
      if (status !== 401 && !(status === 503 && headers.has('Retry-After'))) this.admitted++;
    });
  }

  #eachServer(work: (server: Server) => Promise<void>): Promise<unknown> {
    return Promise.all(this.#servers.map(work));
  }
}

function pullWith(server: Server, token: string) {
  const body = pullBody({ clientGroupID: randomUUID() });
  return send(server, '/sync/pull', body, { user: null, headers: { Authorization: `Bearer ${token}` } });
}
