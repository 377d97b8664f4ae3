/**
 * A process with many clients that subscribe to pokes, and can pull after each poke. It does one thing at a time, as
 * `Order` says.
 */
import { connect, type Socket } from 'node:net';
import { ClientGroup } from '../client/client-group.js';
import { Connection } from '../client/connection.js';

export type Order =
  /**
   * Opens a client for each of the users, who may be the same. Done when each has its first poke, and, if they pull,
   * has pulled.
   */
  | {
      readonly do: 'open';
      readonly url: string;
      readonly users: readonly string[];
      readonly pulls: boolean;
      /** The version that a client sends. See `ClientGroup`. */
      readonly schemaVersion?: string;
      /** The number of the first client, so that the clients of several processes differ. Default 0. */
      readonly from?: number;
    }
  /** Discards the recorded pokes. */
  | { readonly do: 'reset' }
  /** Answers with `Totals`, since the last reset. */
  | { readonly do: 'count' }
  /** Waits for this many pokes, and for the pulls after them. Answers with `Arrivals`. */
  | { readonly do: 'await'; readonly pokes: number }
  /** Every client pulls. */
  | { readonly do: 'pull' }
  | { readonly do: 'close' };

export interface Arrivals {
  /** The clock times at which pokes arrived, in milliseconds, in order. */
  readonly pokes: readonly number[];
  /** The time at which the last pull after them was answered. */
  readonly pulledAt: number;
  readonly pulls: number;
}

export interface Totals {
  readonly pokes: number;
  readonly pulls: number;
}

const patienceMs = 10_000;
const clock = () => performance.timeOrigin + performance.now();
const event = 'data: poke\n\n';

let arrivals: number[] = [];
let pulls = 0;
let pulledAt = 0;
let pulling = new Set<Promise<void>>();
let onPoke = () => {};
let clients: Client[] = [];

type Opening = Extract<Order, { do: 'open' }>;

class Client {
  readonly #socket: Socket;
  readonly #connection: Connection | undefined;
  readonly #group: ClientGroup | undefined;

  constructor(socket: Socket, connection?: Connection, group?: ClientGroup) {
    this.#socket = socket;
    this.#connection = connection;
    this.#group = group;
  }

  static async open({ url, pulls, schemaVersion = '' }: Opening, user: string, id: string): Promise<Client> {
    const connection = pulls ? await Connection.open(url) : undefined;
    const group = connection && new ClientGroup(connection, user, id, schemaVersion);
    await group?.pull();
    const { hostname, port } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname });
    const client = new Client(socket, connection, group);
    socket.write(
      `GET /sync/poke?clientGroupID=${id}&profileID=p&schemaVersion=${schemaVersion} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user}\r\n\r\n`,
    );
    await new Promise<void>((resolve, reject) => {
      let rest = '';
      let isFirst = true;
      socket.once('error', reject);
      socket.once('close', () => {
        reject(new Error(`The stream of ${user} was closed: ${rest}`));
      });
      socket.on('data', (data) => {
        const parts = (rest + data.toString('latin1')).split(event);
        rest = parts.pop()!.slice(-event.length);
        for (const _ of parts) {
          if (!isFirst) client.#poked();
          isFirst = false;
          resolve();
        }
      });
    });
    return client;
  }

  #poked(): void {
    arrivals.push(clock());
    void this.pull();
    onPoke();
  }

  pull(): Promise<void> {
    if (!this.#group) return Promise.resolve();
    const pulled = this.#group.pull().then(() => {
      pulls++;
      pulledAt = clock();
    });
    pulling.add(pulled);
    return pulled;
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
    this.#connection?.close();
  }
}

async function open(order: Opening): Promise<void> {
  const { users, from = 0 } = order;
  const batch = 50;
  for (let start = 0; start < users.length; start += batch) {
    const some = users.slice(start, start + batch);
    clients.push(...(await Promise.all(some.map((user, i) => Client.open(order, user, `g${from + start + i}`)))));
  }
}

async function awaitPokes(count: number): Promise<Arrivals> {
  const deadline = clock() + patienceMs;
  while (arrivals.length < count && clock() < deadline) {
    await Promise.race([
      new Promise<void>((resolve) => {
        onPoke = resolve;
      }),
      new Promise((resolve) => setTimeout(resolve, 100)),
    ]);
  }
  // Gives surplus pokes time to arrive.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await Promise.all(pulling);
  return { pokes: arrivals, pulledAt, pulls };
}

async function obey(order: Order): Promise<object> {
  switch (order.do) {
    case 'open':
      await open(order);
      break;
    case 'reset':
      arrivals = [];
      pulls = 0;
      pulling = new Set();
      break;
    case 'count':
      return { pokes: arrivals.length, pulls } satisfies Totals;
    case 'await':
      return awaitPokes(order.pokes);
    case 'pull':
      for (const client of clients) void client.pull();
      await Promise.all(pulling);
      break;
    case 'close':
      for (const client of clients) client.close();
      clients = [];
  }
  return {};
}

process.on('message', async (order: Order) => process.send?.(await obey(order)));
process.on('disconnect', () => process.exit(0));
process.send?.({ url: '' });
