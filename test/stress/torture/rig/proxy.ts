/** A bad network before a server: connections are slow, cut into slices, reset, or left half open. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../oracle/random.js';

/** `half-open` accepts data, and passes nothing on. */
export const faults = ['delay', 'slice', 'reset', 'half-open'] as const;
export type Fault = (typeof faults)[number];

const maxDelayMs = 400;
const maxSlices = 12;

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** True if something was not passed on. Nothing may follow then. */
  isStale: boolean;
}

export class ChaosProxy {
  readonly url: string;
  readonly #listener: Server;
  readonly #random: Random;
  readonly #pairs = new Set<Pair>();
  /** The port that connections go to. */
  target: number;
  #fault: Fault | undefined;

  private constructor(listener: Server, target: number, random: Random) {
    this.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    this.#listener = listener;
    this.#random = random;
    this.target = target;
    listener.on('connection', (client: Socket) => this.#accept(client));
  }

  static async open(target: number, random: Random = new Random(0)): Promise<ChaosProxy> {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new ChaosProxy(listener, target, random);
  }

  /** Introduces a fault. */
  break(fault: Fault): void {
    this.#fault = fault;
  }

  /** Ends the fault. As in a real network, the ends of lost connections are reset. */
  heal(): void {
    this.#fault = undefined;
    for (const pair of this.#pairs) if (pair.isStale) reset(pair);
  }

  /** Cuts all connections. */
  cut(): void {
    for (const pair of this.#pairs) reset(pair);
  }

  close(): void {
    this.#listener.close();
    this.cut();
  }

  #accept(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    const pair = { client, server, isStale: false };
    this.#pairs.add(pair);
    const forget = () => {
      reset(pair);
      this.#pairs.delete(pair);
    };
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', forget).once('close', forget);
    this.#forward(pair, client, server).catch(forget);
    this.#forward(pair, server, client).catch(forget);
  }

  async #forward(pair: Pair, from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      if (this.#fault === 'reset') return reset(pair);
      if (this.#fault === 'half-open') pair.isStale = true;
      if (pair.isStale) continue;
      for (const part of this.#fault === 'slice' ? this.#slices(chunk) : [chunk]) {
        if (this.#fault === 'delay') await sleep(this.#random.between(1, maxDelayMs));
        if (this.#fault === 'slice') await sleep(this.#random.between(0, 20));
        if (!to.write(part)) await once(to, 'drain');
      }
    }
    to.end();
  }

  #slices(chunk: Buffer): Buffer[] {
    const parts: Buffer[] = [];
    let from = 0;
    while (from < chunk.length && parts.length < maxSlices) {
      const to = from + this.#random.between(1, Math.ceil(chunk.length / 4));
      parts.push(chunk.subarray(from, to));
      from = to;
    }
    return [...parts, chunk.subarray(from)];
  }
}

function reset({ client, server }: Pair): void {
  client.resetAndDestroy();
  server.resetAndDestroy();
}
