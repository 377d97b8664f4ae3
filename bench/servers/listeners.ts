/**
 * A process with many clients that listen for pokes, and can pull when one comes. It does one thing at a time, as
 * `Order` says.
 */
import { connect, type Socket } from 'node:net';
import { ClientGroup } from '../client/client-group.js';
import { Connection } from '../client/connection.js';

export type Order =
  /**
   * So many clients, of users that may be the same. Done when each has its first poke, and where they pull, has pulled.
   */
  | {
      readonly do: 'open';
      readonly url: string;
      readonly clients: number;
      readonly users: number;
      readonly pulls: boolean;
    }
  /** Forgets the pokes that have come. */
  | { readonly do: 'reset' }
  /** Waits for so many pokes, and for the pulls after them. Answers with `Arrivals`. */
  | { readonly do: 'await'; readonly pokes: number }
  /** Every client pulls. */
  | { readonly do: 'pull' }
  | { readonly do: 'close' };

export interface Arrivals {
  /** The times of the clock at which pokes came, in milliseconds, in order. */
  readonly pokes: readonly number[];
  /** When the last pull after them was answered. */
  readonly pulledAt: number;
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

class Client {
  readonly #socket: Socket;
  readonly #connection: Connection | undefined;
  readonly #group: ClientGroup | undefined;

  constructor(socket: Socket, connection?: Connection, group?: ClientGroup) {
    this.#socket = socket;
    this.#connection = connection;
    this.#group = group;
  }

  static async open(url: string, user: string, id: string, doesPull: boolean): Promise<Client> {
    const { hostname, port } = new URL(url);
    const connection = doesPull ? await Connection.open(url) : undefined;
    const group = connection && new ClientGroup(connection, user, id);
    await group?.pull();
    const socket = connect(Number(port), hostname);
    const client = new Client(socket, connection, group);
    socket.write(
      `GET /sync/poke?clientGroupID=${id}&profileID=p HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user}\r\n\r\n`,
    );
    await new Promise<void>((resolve, reject) => {
      let rest = '';
      let isFirst = true;
      socket.once('error', reject);
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
    this.pull();
    onPoke();
  }

  pull(): void {
    if (!this.#group) return;
    const pulled = this.#group.pull().then(() => {
      pulls++;
      pulledAt = clock();
    });
    pulling.add(pulled);
  }

  close(): void {
    this.#socket.destroy();
    this.#connection?.close();
  }
}

async function open({ url, clients: count, users, pulls: doPull }: Extract<Order, { do: 'open' }>): Promise<void> {
  const batch = 50;
  for (let start = 0; start < count; start += batch) {
    const some = Array.from({ length: Math.min(batch, count - start) }, (_, i) => start + i);
    clients.push(...(await Promise.all(some.map((i) => Client.open(url, `user${i % users}`, `g${i}`, doPull)))));
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
  // Were there more than are expected, they would come with these.
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
    case 'await':
      return awaitPokes(order.pokes);
    case 'pull':
      for (const client of clients) client.pull();
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
