/** Clients that call a server again and again, and learn which of its processes answers. */
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';

export interface Call {
  readonly started: number;
  /** The status, or what became of the connection. */
  readonly outcome: number | string;
  /** The process that answered. */
  readonly pid: number | undefined;
  /** The process that had answered over the same connection before; undefined for a new connection. */
  readonly over: number | undefined;
}

/** No answer takes as long: what does so hangs. */
const hangMs = 15_000;
export const hung = 'no answer';

/** Between the calls of a client, so that they leave something of the machine to workers that start. */
const pauseMs = 5;

export class Load {
  readonly calls: Call[] = [];
  readonly #clients: Promise<void>[];
  #isOver = false;

  /**
   * @param url of a mutator that returns the ID of its process
   * @param kept how many clients keep their connections
   * @param fresh how many take a new one for each call
   */
  constructor(url: string, { kept, fresh }: { readonly kept: number; readonly fresh: number }) {
    const agents = Array.from({ length: kept + fresh }, (_, i) => new Agent({ keepAlive: i < kept, maxSockets: 1 }));
    this.#clients = agents.map(async (agent) => {
      for (; !this.#isOver; await sleep(pauseMs)) this.calls.push(await call(url, agent));
      agent.destroy();
    });
  }

  /** The processes that have answered calls which began after this moment. */
  pidsSince(moment: number): Set<number> {
    return new Set(this.calls.flatMap(({ started, pid }) => (pid !== undefined && started > moment ? [pid] : [])));
  }

  get failed(): Call[] {
    return this.calls.filter(({ outcome }) => outcome !== 200);
  }

  /** Resolves when all calls that are under way have been answered. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }
}

/** Resolves with the processes that answer from now on, when there are so many. */
export async function answering(load: Load, count: number): Promise<number[]> {
  const now = performance.now();
  await vi.waitFor(() => expect(load.pidsSince(now).size).toBe(count), { timeout: 30_000, interval: 50 });
  return [...load.pidsSince(now)];
}

const owners = new WeakMap<Socket, number>();

/** One call; never rejects. */
export function call(url: string, agent: Agent, method = 'POST'): Promise<Call> {
  const started = performance.now();
  return new Promise((resolve) => {
    let used: Socket | undefined;
    let over: number | undefined;
    const end = (outcome: number | string, pid?: number) => {
      if (used && pid !== undefined) owners.set(used, pid);
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
      over = owners.get(socket);
    });
    sent.on('error', ({ message }) => end(message));
    sent.setTimeout(hangMs, () => sent.destroy(new Error(hung)));
    sent.end();
  });
}
