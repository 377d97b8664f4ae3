/** Clients that call a server again and again, and record which of its processes responds. */
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';

export interface Call {
  readonly started: number;
  /** The status, or what happened to the connection. */
  readonly outcome: number | string;
  /** The process that responded. */
  readonly pid: number | undefined;
  /** The process that had last responded over the same connection; undefined for a new connection. */
  readonly over: number | undefined;
}

/** No response takes this long. A call that does hangs. */
const hangMs = 15_000;
export const hung = 'no answer';

/** The pause between the calls of a client, which leaves CPU time to workers that start. */
const pauseMs = 5;

export class Load {
  readonly calls: Call[] = [];
  readonly #clients: Promise<void>[];
  #isOver = false;

  /**
   * @param url of a mutator that returns the ID of its process
   * @param keepAlive the number of clients that keep their connections
   * @param fresh the number of clients that open a new one for each call
   */
  constructor(url: string, { keepAlive, fresh }: { readonly keepAlive: number; readonly fresh: number }) {
    const agents = Array.from(
      { length: keepAlive + fresh },
      (_, i) => new Agent({ keepAlive: i < keepAlive, maxSockets: 1 }),
    );
    this.#clients = agents.map(async (agent) => {
      for (; !this.#isOver; await sleep(pauseMs)) this.calls.push(await call(url, agent));
      agent.destroy();
    });
  }

  /** The processes that have responded to calls which began after this time. */
  pidsSince(time: number): Set<number> {
    return new Set(this.calls.flatMap(({ started, pid }) => (pid !== undefined && started > time ? [pid] : [])));
  }

  get failed(): Call[] {
    return this.calls.filter(({ outcome }) => outcome !== 200);
  }

  /** Resolves when all calls in progress have been answered. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }
}

/** Resolves with the processes that respond from now on, once there are this many. */
export async function answering(load: Load, count: number): Promise<number[]> {
  const now = performance.now();
  await vi.waitFor(() => expect(load.pidsSince(now).size).toBe(count), { timeout: 30_000, interval: 50 });
  return [...load.pidsSince(now)];
}

const pidsOfSockets = new WeakMap<Socket, number>();

/** Makes one call. It never rejects. */
export function call(url: string, agent: Agent, method = 'POST'): Promise<Call> {
  const started = performance.now();
  return new Promise((resolve) => {
    let used: Socket | undefined;
    let over: number | undefined;
    const end = (outcome: number | string, pid?: number) => {
      if (used && pid !== undefined) pidsOfSockets.set(used, pid);
      resolve({ started, outcome, pid, over });
    };
    const sent = request(url, { agent, method }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      response.on('error', ({ message }) => end(message));
      response.on('end', () => end(response.statusCode!, JSON.parse(text || '{}').result));
    });
    sent.on('socket', (socket) => {
      used = socket;
      over = pidsOfSockets.get(socket);
    });
    sent.on('error', ({ message }) => end(message));
    sent.setTimeout(hangMs, () => sent.destroy(new Error(hung)));
    sent.end();
  });
}
