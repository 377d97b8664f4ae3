/** A real sync client whose mutations leave traces. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectPokes } from '../../../../packages/client/src/poke.js';
import { openClient, type TestClient } from '../../../integration/conformance/client/client.js';
import type { Random } from '../../oracle/random.js';
import type { EngineOver } from './engines.js';
import { JudgedNetwork } from './judged-network.js';
import { Mirror } from './mirror.js';
import { accountOf } from './schema.js';
import type { Tally } from './tally.js';

export interface ClientOptions {
  readonly engine: EngineOver;
  readonly user: string;
  /** The URL for the next request, without a trailing slash. */
  readonly route: () => string;
  readonly random: Random;
  readonly tally: Tally;
  /** The name of a client to continue. */
  readonly name?: string;
}

/** Clients pull when they are poked, and also at short intervals, because pokes are lost with their server. */
const pullIntervalMs = 1_000;

export class Client {
  readonly #options: ClientOptions;
  readonly #mirror: Mirror;
  readonly #stopPokes: () => void;
  readonly sync: TestClient;
  /** The number of its mutations. */
  mutations = 0;
  /** True if the server has no record of it. */
  isLost = false;

  /** @param mirror the mirror of the client that it continues */
  constructor(options: ClientOptions, mirror: Mirror = new Mirror()) {
    this.#options = options;
    this.#mirror = mirror;
    const { user, route, random, tally, name, engine } = options;
    this.sync = openClient({ url: route() }, user, {
      ...(name !== undefined && { name }),
      pullInterval: pullIntervalMs,
      open: engine(new JudgedNetwork({ route, random, tally, mirror })),
      moreMutators: { work: async () => {}, 'fail.permanent': async () => {}, 'fail.transient': async () => {} },
    });
    this.sync.rep.onClientStateNotFound = () => {
      this.isLost = true;
    };
    this.#stopPokes = connectPokes(this.sync.rep, { url: `${route()}/sync/poke` });
  }

  get user(): string {
    return this.#options.user;
  }

  get id(): string {
    return this.sync.rep.clientID;
  }

  /** Makes its next mutation, by default one that transfers money. */
  async mutate(name = 'work', more: object = {}): Promise<void> {
    const { random, user } = this.#options;
    const n = ++this.mutations;
    const from = random.between(0, 3);
    const transfer = { from: accountOf(user, from), to: accountOf(user, from + random.between(1, 3)) };
    const args = { clientID: this.id, n, amount: random.between(1, 9), ...transfer, ...more };
    await (this.sync.rep.mutate as Record<string, (args: object) => Promise<void>>)[name]!(args);
  }

  /** Mutates until the end, with this mean pause in milliseconds. */
  async keepMutating(pauseMs: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.mutate();
      await sleep(this.#options.random.between(0, 2 * pauseMs));
    }
  }

  /** Opens another client with the same storage, as a reloaded page does. */
  async reopen(): Promise<Client> {
    await this.close();
    this.#mirror.startGroup();
    return new Client({ ...this.#options, name: this.sync.rep.name }, this.#mirror);
  }

  async close(): Promise<void> {
    this.#stopPokes();
    await this.sync.rep.close();
  }
}
