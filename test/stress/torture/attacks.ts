/** Attacks of one user, `ann`, on a server. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LargePull } from '../../integration/conformance/large-pulls.js';
import { mutation, pullBody, pushBody, send } from '../../integration/conformance/wire.js';

export interface Order {
  /** A name in `attacks`. */
  readonly name: string;
  /** The server's URL. */
  readonly url: string;
  /** The number of concurrent requests. */
  readonly times: number;
  /** The number of concurrent streams of pokes. */
  readonly streams: number;
}

const MiB = 1024 * 1024;

/** Each continues until the process ends. */
export const attacks: Readonly<Record<string, (order: Order) => void>> = {
  'first pulls that are not read'(order) {
    times(order, (i) => new LargePull(order, `large ${i}`));
  },
  async 'first pulls that are given up'(order) {
    for (let round = 0; ; round++) {
      const pulls = times(order, (i) => new LargePull(order, `gone ${round} ${i}`));
      await sleep(50);
      for (const one of pulls) one.giveUp();
    }
  },
  'first pulls, one after the other'(order) {
    times(order, (i) => again(() => new LargePull(order, `read ${i}`).read()));
  },
  'large pushes'(order) {
    const body = JSON.stringify(pushBody([])).padEnd(4 * MiB);
    flood(order, '/sync/push', () => body);
  },
  'deep pushes'(order) {
    const deep = JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`);
    const body = JSON.stringify(pushBody([mutation(1, 'unknown', Array(10_000).fill(deep))]));
    flood(order, '/sync/push', () => body);
  },
  'pushes of 5,000 mutations'(order) {
    flood(order, '/sync/push', (i, n) => pushOf(5_000, () => `many ${i} ${n}`, `many ${i} ${n}`));
  },
  'pushes of 1,000 clients'(order) {
    flood(order, '/sync/push', (i, n) => pushOf(1_000, (index) => `client ${i} ${n} ${index}`, `clients ${i} ${n}`));
  },
  'mutators that hang'(order) {
    flood(order, '/sync/push', (i) =>
      pushBody([mutation(1, 'hang', null, `hangs ${i}`)], { clientGroupID: `hangs ${i}` }),
    );
  },
  'streams of pokes'(order) {
    times({ times: order.streams }, (i) =>
      fetchAsAnn(order, `/sync/poke?clientGroupID=s${i}&profileID=p`).catch(() => {}),
    );
  },
  'views that are not read'(order) {
    times(order, () => fetchAsAnn(order, views));
  },
  'views, one after the other'(order) {
    times(order, () => again(async () => (await fetchAsAnn(order, views)).arrayBuffer()));
  },
  'rows, as fast as they come'(order) {
    times(order, (i) => again(async () => (await fetchAsAnn(order, `${views}/${i}`)).text()));
  },
  'streams of a view, and requests that wait'(order) {
    times({ times: order.streams }, (i) =>
      i % 2 === 0
        ? fetchAsAnn(order, `${views}/${i}`, { Accept: 'text/event-stream' }).catch(() => {})
        : again(async () => {
            const { headers } = await fetchAsAnn(order, `${views}/1`);
            const conditional = { 'If-None-Match': headers.get('ETag') ?? '', Prefer: 'wait=60' };
            await fetchAsAnn(order, `${views}/1`, conditional);
          }),
    );
  },
  'pulls, as fast as they come'(order) {
    const body = pullBody({ clientGroupID: 'flood', cookie: { order: 1 } });
    flood(order, '/sync/pull', () => body);
  },
  'requests of nobody, sent ahead, whose answers are not taken'(order) {
    times(order, () => sendAhead(order, views));
  },
};

/** The number of requests sent over a connection before any response is read. */
const sentAhead = 20_000;

/** Sends unauthenticated requests over a connection without reading responses. Opens another one when it is closed. */
function sendAhead(order: Order, path: string): void {
  const { hostname, port } = new URL(order.url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => {});
  socket.on('close', () => setTimeout(() => sendAhead(order, path), 20));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(sentAhead));
}

/** @param clientOf the client of the mutation with this index, from 0 */
function pushOf(length: number, clientOf: (index: number) => string, clientGroupID: string): object {
  const next = new Map<string, number>();
  const mutations = Array.from({ length }, (_, index) => {
    const clientID = clientOf(index);
    const n = (next.get(clientID) ?? 0) + 1;
    next.set(clientID, n);
    return mutation(n, 'count', { clientID, n }, clientID);
  });
  return pushBody(mutations, { clientGroupID });
}

const views = '/api/views/document';

function fetchAsAnn({ url }: Order, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url + path, { headers: { Authorization: 'Bearer ann', ...headers } });
}

function times<T>({ times }: Pick<Order, 'times'>, once: (i: number) => T): T[] {
  return Array.from({ length: times }, (_, i) => once(i));
}

/**
 * Sends requests in a loop at a number of places at the same time.
 * @param bodyOf the body of the n-th request with an index, from 0
 */
function flood(order: Order, path: string, bodyOf: (index: number, n: number) => object | string): void {
  times(order, (index) => {
    let n = 0;
    return again(() => send(order, path, bodyOf(index, n++)));
  });
}

async function again(once: () => Promise<unknown>): Promise<never> {
  for (;;) await once().catch(() => {});
}
