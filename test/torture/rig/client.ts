/** A real sync client whose mutations leave traces, which delivers some of its pushes twice, and judges its pulls. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectPokes } from '../../../src/poke.js';
import { openClient, type TestClient } from '../../conformance/client/client.js';
import type { PullAnswer } from '../../conformance/wire.js';
import type { Random } from '../../oracle/random.js';
import { Mirror } from './mirror.js';
import { accountOf } from './schema.js';
import type { Tally } from './tally.js';

export interface ClientOptions {
  readonly user: string;
  /** Where the next request goes, without a slash at its end. */
  readonly route: () => string;
  readonly random: Random;
  readonly tally: Tally;
  /** Of a client to go on from. */
  readonly name?: string;
}

const doubledShare = 0.2;
/** Clients pull when they are poked; and, where pokes are lost with their server, soon. */
const pullIntervalMs = 1_000;

interface Received {
  readonly response?: object;
  readonly httpRequestInfo: { readonly httpStatusCode: number; readonly errorMessage: string };
}

export class Client {
  readonly #options: ClientOptions;
  readonly #mirror: Mirror;
  readonly #stopPokes: () => void;
  readonly sync: TestClient;
  /** How many mutations it has made. */
  mutations = 0;
  /** The server has no record of it. */
  isLost = false;

  /** @param mirror of the client that it goes on from */
  constructor(options: ClientOptions, mirror: Mirror = new Mirror()) {
    this.#options = options;
    this.#mirror = mirror;
    const { user, route, name } = options;
    this.sync = openClient({ url: route() }, user, {
      ...(name !== undefined && { name }),
      pullInterval: pullIntervalMs,
      puller: (async (body: { cookie: never }, id: string) => this.#pull(body, id)) as never,
      pusher: (async (body: object, id: string) => this.#push(body, id)) as never,
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

  /** Makes its next mutation, one that transfers money by default. */
  async mutate(name = 'work', more: object = {}): Promise<void> {
    const { random, user } = this.#options;
    const n = ++this.mutations;
    const from = random.between(0, 3);
    const transfer = { from: accountOf(user, from), to: accountOf(user, from + random.between(1, 3)) };
    const args = { clientID: this.id, n, amount: random.between(1, 9), ...transfer, ...more };
    await (this.sync.rep.mutate as Record<string, (args: object) => Promise<void>>)[name]!(args);
  }

  /** Mutates until it is over, with pauses of so many milliseconds on average. */
  async keepMutating(pauseMs: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.mutate();
      await sleep(this.#options.random.between(0, 2 * pauseMs));
    }
  }

  /** As a page does that is loaded again: another client with the same storage. */
  async reopen(): Promise<Client> {
    await this.close();
    this.#mirror.startGroup();
    return new Client({ ...this.#options, name: this.sync.rep.name }, this.#mirror);
  }

  async close(): Promise<void> {
    this.#stopPokes();
    await this.sync.rep.close();
  }

  async #pull(body: { cookie: never }, requestID: string): Promise<Received> {
    const { tally } = this.#options;
    tally.pulls++;
    const received = await this.#send('pull', body, requestID);
    if (received.response && !('error' in received.response)) {
      for (const fault of this.#mirror.take(body.cookie, received.response as PullAnswer)) tally.object(fault);
    }
    return received;
  }

  async #push(body: object, requestID: string): Promise<Received> {
    const { random, tally } = this.#options;
    const send = () => this.#send('push', body, requestID);
    const isDoubled = random.chance(doubledShare);
    tally.pushes++;
    if (isDoubled) tally.doubled++;
    const [received] = await Promise.all(isDoubled ? [send(), send()] : [send()]);
    if (received!.httpRequestInfo.httpStatusCode === 200) tally.accepted++;
    return received!;
  }

  async #send(path: 'pull' | 'push', body: object, requestID: string): Promise<Received> {
    const { route, tally, user } = this.#options;
    const headers = {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${user}`,
      'X-Replicache-RequestID': requestID,
    };
    const received = await receive(`${route()}/sync/${path}`, headers, JSON.stringify(body)).catch((error: unknown) => {
      tally.broken++;
      throw error;
    });
    const { status, text, retryAfter } = received;
    if (status === 503) tally.unavailable++;
    if (status === 409 && text.includes('"mutation-gap"')) tally.gaps++;
    else if (status !== 200 && status !== 503) tally.object(`a ${path} got ${status} ${text}`);
    if (status === 503 && retryAfter === null) tally.object(`a ${path} got 503 without Retry-After`);
    const httpRequestInfo = { httpStatusCode: status, errorMessage: status === 200 ? '' : text };
    const response = status === 200 ? JSON.parse(text) : {};
    // A push is answered with an empty object, or with what went wrong.
    return { httpRequestInfo, ...('error' in response || 'patch' in response ? { response } : {}) };
  }
}

async function receive(url: string, headers: Record<string, string>, body: string) {
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, retryAfter: response.headers.get('Retry-After'), text: await response.text() };
}
