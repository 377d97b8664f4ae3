/** Clients that pull when they are poked. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../../../packages/tidemark/src/server.js';
import { FailedPull, type FuzzClient } from './client.js';
import { Difference } from './difference.js';
import { requestTo } from './requests.js';
import type { Served } from './serving.js';
import type { FuzzView } from './view.js';
import { wantsOf } from './wants.js';

const pokeEvent = 'data: poke\n\n';

/** The time that pokes may take if the affected clients are expensive to find. */
const maxPokeDelayMs = 15_000;

const maxPollMs = 120_000;

export interface SubscribersParts {
  server(index: number): Promise<Served>;
  /** @throws Difference if the client then holds other rows than its views do */
  pull(client: FuzzClient, server: number): Promise<void>;
  /** The views with arguments. */
  instanced(): readonly FuzzView[];
  /** @throws Difference if the client holds other rows than its views do */
  compare(client: FuzzClient): Promise<void>;
}

/** All subscribers of a case. */
export class Subscribers {
  readonly #parts: SubscribersParts;
  readonly #subscribers: Subscriber[] = [];

  constructor(parts: SubscribersParts) {
    this.#parts = parts;
  }

  /** @throws FailedPull if a server refuses the client's stream */
  async add(client: FuzzClient, server: number): Promise<void> {
    const { sync } = await this.#parts.server(server);
    this.#subscribers.push(await Subscriber.open(client, server, sync, this.#parts.instanced()));
    await this.#parts.pull(client, server);
  }

  /** Reopens the stream of a client that wants other instances. */
  async renew(client: FuzzClient): Promise<void> {
    const at = this.#subscribers.findIndex((subscriber) => subscriber.client === client);
    const [previous] = at < 0 ? [] : this.#subscribers.splice(at, 1);
    if (!previous) return;
    await previous.close();
    await this.add(client, previous.server);
  }

  /** Reopens the streams that have ended with their server. */
  async reconnect(): Promise<void> {
    for (const { client, server } of this.#subscribers.splice(0)) await this.add(client, server);
  }

  /**
   * Makes the servers poll and poked clients pull, until all clients have the current rows.
   * @param before Awaited before each statement of a poll.
   * @throws Difference if a client does not have them and is not poked
   */
  async poll(before: () => Promise<void>): Promise<void> {
    const end = performance.now() + maxPokeDelayMs;
    for (;;) {
      for (const server of new Set(this.#subscribers.map((subscriber) => subscriber.server))) {
        await this.#pollServer(server, before);
      }
      const poked = this.#subscribers.filter((subscriber) => subscriber.take());
      for (const { client, server } of poked) await this.#parts.pull(client, server);
      if (poked.length > 0) continue;
      const miss = await this.#findMiss();
      if (!miss) return;
      if (performance.now() > end) {
        // If a pull does not help, the missing poke is not the reason.
        await this.#parts.pull(miss.client, miss.server);
        throw miss.difference;
      }
      await sleep(10);
    }
  }

  async #findMiss(): Promise<{ client: FuzzClient; server: number; difference: Difference } | undefined> {
    for (const { client, server } of this.#subscribers) {
      try {
        await this.#parts.compare(client);
      } catch (error) {
        if (!(error instanceof Difference) || error.kind !== 'missed poke') throw error;
        return { client, server, difference: error };
      }
    }
    return undefined;
  }

  async #pollServer(server: number, before: () => Promise<void>): Promise<void> {
    const { sync, pool } = await this.#parts.server(server);
    pool.before = before;
    await pollOn(sync).finally(() => {
      pool.before = undefined;
    });
  }
}

/** A client's stream of pokes from one server. */
class Subscriber {
  readonly client: FuzzClient;
  readonly server: number;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #pokes = 0;

  private constructor(client: FuzzClient, server: number, reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.client = client;
    this.server = server;
    this.#reader = reader;
    void this.#read();
  }

  static async open(
    client: FuzzClient,
    server: number,
    { fetch }: Sync,
    instanced: readonly FuzzView[],
  ): Promise<Subscriber> {
    const query = new URLSearchParams({ clientGroupID: client.group, profileID: 'p' });
    const body = instanced.length > 0 ? { wants: wantsOf(instanced, client.wanted) } : undefined;
    const response = await fetch(requestTo(`/sync/poke?${query}`, client.user, body));
    if (response.status !== 200) {
      throw new FailedPull(`no stream of pokes: ${response.status} ${await response.text()}`);
    }
    return new Subscriber(client, server, response.body!.getReader());
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }

  /** True if it has been poked since the previous call. */
  take(): boolean {
    const pokes = this.#pokes;
    this.#pokes = 0;
    return pokes > 0;
  }

  async #read(): Promise<void> {
    let text = '';
    for (;;) {
      const { value, done } = await this.#reader.read().catch(() => ({ value: undefined, done: true }));
      if (done) return;
      text += Buffer.from(value!).toString();
      const events = text.split(pokeEvent);
      this.#pokes += events.length - 1;
      text = events.at(-1)!;
    }
  }
}

/** Makes a server poll for changes, and waits until it has. */
async function pollOn({ fetch }: Sync): Promise<void> {
  const startedAt = performance.now();
  // After a push, the server polls immediately, even if the push has no mutations.
  await fetch(
    requestTo('/sync/push', 0, {
      pushVersion: 1,
      clientGroupID: 'nobody',
      profileID: 'p',
      schemaVersion: '',
      mutations: [],
    }),
  );
  for (;;) {
    if (performance.now() - startedAt > maxPollMs) throw new Error('a poll does not end');
    const response = await fetch(requestTo('/readyz', 0));
    const { pokes } = (await response.json()) as { pokes?: { lagMs: number | null } };
    // The lag is rounded to milliseconds.
    if (pokes && pokes.lagMs !== null && performance.now() - pokes.lagMs > startedAt + 2) break;
    await sleep(2);
  }
  // Other events read what the streams contain by now.
  await sleep(0);
}
