/** Distributes a limited number of connections among several pools. */
import pg from 'pg';
import { cancelStatement } from './cancel.js';
import { GivenUpError } from './sqlstate.js';

type Callback = Parameters<pg.Pool['connect']>[0];

/**
 * A pool can open another connection while it has at most this fraction of the connections not in use. However many
 * pools are busy, some connections are left. A pool without a connection can always have one of those.
 * @see https://doi.org/10.1109/90.664262 (dynamic queue length thresholds)
 */
const share = 1 / 4;

/** A request that waits until its pool can use a connection. */
interface Waiter {
  readonly callback: Callback;
  readonly timer: NodeJS.Timeout;
}

/**
 * Limits the number of connections that its pools have open together. At the limit, the least recently used pool with
 * an idle connection closes it for another pool. Each pool opens one connection at a time: connecting takes longer than
 * most statements, and during that time one of the pool's own connections may become free.
 */
export class ConnectionBudget {
  readonly #max: number;
  /** The pools with connections, least recently used first. */
  readonly #pools = new Set<BudgetedPool>();
  readonly #waiting = new Set<BudgetedPool>();
  #isRebalancing = false;

  /** @param max the maximum number of open connections */
  constructor(max: number) {
    this.#max = max;
  }

  /** The number of open connections, and how many of them are idle. */
  usage(): { readonly total: number; readonly idle: number } {
    let [total, idle] = [0, 0];
    for (const pool of this.#pools) {
      if (pool.totalCount === 0) this.#pools.delete(pool);
      total += pool.totalCount;
      idle += pool.idleCount;
    }
    return { total, idle };
  }

  /** The number of requests that wait for a connection. */
  get waiting(): number {
    return [...this.#waiting].reduce((sum, pool) => sum + pool.waiters, 0);
  }

  /** Creates a pool whose connections count toward this budget. */
  createPool(options: pg.PoolConfig): BudgetedPool {
    return new BudgetedPool(options, this);
  }

  /** Returns true if the pool can use a connection now, idle or new, and marks the pool as recently used. */
  admits(pool: BudgetedPool): boolean {
    if (!pool.hasIdle) {
      const { total, idle } = this.usage();
      if (total >= this.#max || !this.#mayGrow(pool, total - idle)) return false;
    }
    this.#pools.delete(pool);
    this.#pools.add(pool);
    return true;
  }

  /** Admits the pool's waiting requests as soon as it can use connections. */
  enqueue(pool: BudgetedPool): void {
    this.#waiting.add(pool);
    this.rebalance();
  }

  remove(pool: BudgetedPool): void {
    this.#pools.delete(pool);
    this.#waiting.delete(pool);
    this.rebalance();
  }

  /** Redistributes the connections after a change, once the pools have updated their counts. */
  rebalance(): void {
    if (this.#isRebalancing) return;
    this.#isRebalancing = true;
    setImmediate(() => {
      this.#isRebalancing = false;
      this.#distribute();
    });
  }

  #mayGrow({ totalCount, options, isConnecting }: BudgetedPool, used: number): boolean {
    const left = this.#max - used;
    if (totalCount === 0) return left > 0;
    return !isConnecting && totalCount < options.max && totalCount <= share * left;
  }

  /** Admits one request of each pool that can use a connection, in the order of the pools. */
  #distribute(): void {
    for (const pool of [...this.#waiting]) {
      if (pool.waiters === 0) {
        this.#waiting.delete(pool);
      } else if (this.admits(pool)) {
        pool.admitOne();
        this.rebalance();
      } else {
        const { total, idle } = this.usage();
        if (idle > 0 && total >= this.#max && this.#mayGrow(pool, total - idle)) this.#closeOne();
      }
    }
  }

  #closeOne(): void {
    [...this.#pools].find(({ hasIdle }) => hasIdle)?.closeOne();
  }
}

/** A client whose socket can be destroyed. */
interface ConnectedClient {
  readonly connection: { readonly stream: { destroy(): void } };
}

/** A pool that connects only when its `ConnectionBudget` admits it. */
export class BudgetedPool extends pg.Pool {
  readonly #budget: ConnectionBudget;
  readonly #waiting: Waiter[] = [];
  readonly #clients = new Set<pg.PoolClient>();

  constructor(options: pg.PoolConfig, budget: ConnectionBudget) {
    super(options);
    this.#budget = budget;
    this.on('connect', (client) => {
      this.#clients.add(client);
      budget.rebalance();
    });
    this.on('release', () => budget.rebalance());
    this.on('remove', (client) => {
      this.#clients.delete(client);
      budget.rebalance();
    });
  }

  /** True if the pool has an idle connection that no queued request will take. */
  get hasIdle(): boolean {
    return this.idleCount > this.waitingCount;
  }

  get isConnecting(): boolean {
    return this.totalCount > this.#clients.size;
  }

  /** The number of requests that wait for the budget. */
  get waiters(): number {
    return this.#waiting.length;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) {
      return new Promise((resolve, reject) =>
        this.connect((error, client) => (client ? resolve(client) : reject(error))),
      );
    }
    // Waiting requests come first.
    if (this.ending || (this.waiters === 0 && this.#budget.admits(this))) this.#connect(callback);
    else this.#wait(callback);
    return undefined;
  }

  /** Admits the request that has waited longest. */
  admitOne(): void {
    const { callback, timer } = this.#waiting.shift()!;
    clearTimeout(timer);
    this.#connect(callback);
  }

  /** Closes an idle connection. */
  closeOne(): void {
    super.connect((_, client) => client?.release(true));
  }

  /** Cancels the statements and destroys the connections, so that the work that uses them fails. */
  breakOff(): void {
    for (const client of this.#clients) {
      cancelStatement(client);
      (client as unknown as ConnectedClient).connection.stream.destroy();
    }
  }

  override async end(): Promise<void> {
    for (const { callback, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      callback(new GivenUpError('The connections are being closed'), undefined, () => {});
    }
    await super.end();
    this.#budget.remove(this);
  }

  #connect(callback: Callback): void {
    super.connect((error, client, done) => {
      // A failed connection attempt frees its share of the budget, and the pool emits no event for it.
      if (error) this.#budget.rebalance();
      callback(error, client, done);
    });
  }

  #wait(callback: Callback): void {
    const giveUp = () => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      callback(new GivenUpError('No connection became free in time'), undefined, () => {});
    };
    const waiting = { callback, timer: setTimeout(giveUp, this.options.connectionTimeoutMillis) };
    this.#waiting.push(waiting);
    this.#budget.enqueue(this);
  }
}
