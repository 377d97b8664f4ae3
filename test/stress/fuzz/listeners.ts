/** Clients that are told when to pull. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../../../src/server.js';
import { FailedPull, type FuzzClient } from './client.js';
import { Difference } from './difference.js';
import { requestTo } from './requests.js';
import type { Served } from './serving.js';

const pokeEvent = 'data: poke\n\n';

/** What a listener is told may be late, where it takes long to find out. */
const patienceMs = 15_000;

const longestLookMs = 120_000;

export interface ListenersParts {
  server(place: number): Promise<Served>;
  /** @throws Difference where the client then holds other rows than its views do */
  pull(client: FuzzClient, server: number): Promise<void>;
  /** @throws Difference where the client holds other rows than its views do */
  compare(client: FuzzClient): Promise<void>;
}

/** All clients of a case that listen. */
export class Listeners {
  readonly #parts: ListenersParts;
  readonly #listeners: Listener[] = [];

  constructor(parts: ListenersParts) {
    this.#parts = parts;
  }

  /** @throws FailedPull when a server does not let the client listen */
  async add(client: FuzzClient, server: number): Promise<void> {
    const { sync } = await this.#parts.server(server);
    this.#listeners.push(await Listener.open(client, server, sync));
    await this.#parts.pull(client, server);
  }

  /** Has all listen again whose streams have ended with their server. */
  async reconnect(): Promise<void> {
    for (const { client, server } of this.#listeners.splice(0)) await this.add(client, server);
  }

  /**
   * Has the servers look, and who is poked pull, until everybody holds what there is.
   * @param before awaited before each statement of a look
   * @throws Difference when somebody does not, and is not poked
   */
  async look(before: () => Promise<void>): Promise<void> {
    const end = performance.now() + patienceMs;
    for (;;) {
      for (const server of new Set(this.#listeners.map((listener) => listener.server)))
        await this.#lookOn(server, before);
      const poked = this.#listeners.filter((listener) => listener.take());
      for (const { client, server } of poked) await this.#parts.pull(client, server);
      if (poked.length > 0) continue;
      const missed = await this.#missed();
      if (!missed) return;
      if (performance.now() > end) {
        // Where a pull does not help, the poke is not what is missing.
        await this.#parts.pull(missed.client, missed.server);
        throw missed.difference;
      }
      await sleep(10);
    }
  }

  async #missed(): Promise<{ client: FuzzClient; server: number; difference: Difference } | undefined> {
    for (const { client, server } of this.#listeners) {
      try {
        await this.#parts.compare(client);
      } catch (error) {
        if (!(error instanceof Difference) || error.kind !== 'missed poke') throw error;
        return { client, server, difference: error };
      }
    }
    return undefined;
  }

  async #lookOn(server: number, before: () => Promise<void>): Promise<void> {
    const { sync, pool } = await this.#parts.server(server);
    pool.before = before;
    await lookOn(sync).finally(() => {
      pool.before = undefined;
    });
  }
}

/** A client's stream of pokes from one server. */
class Listener {
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

  static async open(client: FuzzClient, server: number, { fetch }: Sync): Promise<Listener> {
    const query = new URLSearchParams({ clientGroupID: client.group, profileID: 'p' });
    const response = await fetch(requestTo(`/sync/poke?${query}`, client.user));
    if (response.status !== 200)
      throw new FailedPull(`no stream of pokes: ${response.status} ${await response.text()}`);
    return new Listener(client, server, response.body!.getReader());
  }

  /** Whether it has been poked since it was asked last. */
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

/** Has a server look for changes, and waits until it has. */
async function lookOn({ fetch }: Sync): Promise<void> {
  const asked = performance.now();
  // A push without mutations: what it may have committed is looked for at once.
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
    if (performance.now() - asked > longestLookMs) throw new Error('a look does not end');
    const response = await fetch(requestTo('/readyz', 0));
    const { pokes } = (await response.json()) as { pokes?: { lagMs: number | null } };
    // To the millisecond, rounded.
    if (pokes && pokes.lagMs !== null && performance.now() - pokes.lagMs > asked + 2) break;
    await sleep(2);
  }
  // What is in the streams by now has been read once other events have had their turn.
  await sleep(0);
}
