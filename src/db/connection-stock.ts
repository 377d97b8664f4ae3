/** How a number of connections is shared out to several pools. */
import pg from 'pg';
import { cancelStatement } from './cancel.js';
import { GivenUpError } from './sqlstate.js';

type Callback = Parameters<pg.Pool['connect']>[0];

/**
 * The part of what is not in use that one pool may have in use: so whoever takes much, and however many of them there
 * are, some are left. A pool without a connection may have one, as long as there is any.
 * @see https://doi.org/10.1109/90.664262 (dynamic queue length thresholds)
 */
const share = 1 / 4;

/** What a pool waits with until it may have a connection. */
interface Waiting {
  readonly callback: Callback;
  readonly patience: NodeJS.Timeout;
}

/**
 * Keeps all of its pools together from opening more connections than there are. Where there are no more, the pool that
 * has not been used for longest closes an idle one. Each pool opens one at a time: that takes a database server longer
 * than most statements, and meanwhile, those that it has may do.
 */
export class ConnectionStock {
  readonly #most: number;
  /** Those that have connections; the one that has not been used for longest comes first. */
  readonly #pools = new Set<StockedPool>();
  readonly #waiting = new Set<StockedPool>();
  #isSettling = false;

  /** @param most the most connections that are open at once */
  constructor(most: number) {
    this.#most = most;
  }

  /** How many are open, and how many of them are idle. */
  usage(): { readonly total: number; readonly idle: number } {
    let [total, idle] = [0, 0];
    for (const pool of this.#pools) {
      if (pool.totalCount === 0) this.#pools.delete(pool);
      total += pool.totalCount;
      idle += pool.idleCount;
    }
    return { total, idle };
  }

  /** How much work waits for one, because there are no more. */
  get waiting(): number {
    return [...this.#waiting].reduce((sum, pool) => sum + pool.waiters, 0);
  }

  /** Makes a pool whose connections count among these. */
  createPool(options: pg.PoolConfig): StockedPool {
    return new StockedPool(options, this);
  }

  /** Whether the pool may use a connection now: one that it has, or a new one. */
  admits(pool: StockedPool): boolean {
    if (!pool.hasIdle) {
      const { total, idle } = this.usage();
      if (total >= this.#most || !this.#mayGrow(pool, total - idle)) return false;
    }
    this.#pools.delete(pool);
    this.#pools.add(pool);
    return true;
  }

  /** Tells the pool as soon as it may. */
  await(pool: StockedPool): void {
    this.#waiting.add(pool);
    this.settle();
  }

  leave(pool: StockedPool): void {
    this.#pools.delete(pool);
    this.#waiting.delete(pool);
    this.settle();
  }

  /** Something has changed: shares out anew, when the pools have taken note of it. */
  settle(): void {
    if (this.#isSettling) return;
    this.#isSettling = true;
    setImmediate(() => {
      this.#isSettling = false;
      this.#shareOut();
    });
  }

  #mayGrow({ totalCount, options, isConnecting }: StockedPool, used: number): boolean {
    const left = this.#most - used;
    if (totalCount === 0) return left > 0;
    return !isConnecting && totalCount < options.max && totalCount <= share * left;
  }

  /** One for each pool that may have it, in their order. */
  #shareOut(): void {
    for (const pool of [...this.#waiting]) {
      if (pool.waiters === 0) {
        this.#waiting.delete(pool);
      } else if (this.admits(pool)) {
        pool.letOneIn();
        this.settle();
      } else {
        const { total, idle } = this.usage();
        if (idle > 0 && total >= this.#most && this.#mayGrow(pool, total - idle)) this.#closeOne();
      }
    }
  }

  #closeOne(): void {
    [...this.#pools].find(({ hasIdle }) => hasIdle)?.closeOne();
  }
}

/** A connection that can be broken off. */
interface Connected {
  readonly connection: { readonly stream: { destroy(): void } };
}

/** A pool that asks the stock before it connects. */
export class StockedPool extends pg.Pool {
  readonly #stock: ConnectionStock;
  readonly #waiting: Waiting[] = [];
  readonly #connected = new Set<pg.PoolClient>();

  constructor(options: pg.PoolConfig, stock: ConnectionStock) {
    super(options);
    this.#stock = stock;
    this.on('connect', (client) => {
      this.#connected.add(client);
      stock.settle();
    });
    this.on('release', () => stock.settle());
    this.on('remove', (client) => {
      this.#connected.delete(client);
      stock.settle();
    });
  }

  /** Whether there is an idle connection that nobody has asked for. */
  get hasIdle(): boolean {
    return this.idleCount > this.waitingCount;
  }

  get isConnecting(): boolean {
    return this.totalCount > this.#connected.size;
  }

  /** How much work waits until it may connect. */
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
    // Who has waited comes first.
    if (this.ending || (this.waiters === 0 && this.#stock.admits(this))) this.#connect(callback);
    else this.#wait(callback);
    return undefined;
  }

  /** Lets in who has waited for longest. */
  letOneIn(): void {
    const { callback, patience } = this.#waiting.shift()!;
    clearTimeout(patience);
    this.#connect(callback);
  }

  /** Closes an idle connection. */
  closeOne(): void {
    super.connect((_, client) => client?.release(true));
  }

  /** Breaks off whatever the connections are used for, which then fails. */
  breakOff(): void {
    for (const client of this.#connected) {
      cancelStatement(client);
      (client as unknown as Connected).connection.stream.destroy();
    }
  }

  override async end(): Promise<void> {
    for (const { callback, patience } of this.#waiting.splice(0)) {
      clearTimeout(patience);
      callback(new GivenUpError('The connections are being closed'), undefined, () => {});
    }
    await super.end();
    this.#stock.leave(this);
  }

  #connect(callback: Callback): void {
    super.connect((error, client, done) => {
      // A connection that could not be made leaves its place, and nothing else tells of it.
      if (error) this.#stock.settle();
      callback(error, client, done);
    });
  }

  #wait(callback: Callback): void {
    const giveUp = () => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      callback(new GivenUpError('No connection became free in time'), undefined, () => {});
    };
    const waiting = { callback, patience: setTimeout(giveUp, this.options.connectionTimeoutMillis) };
    this.#waiting.push(waiting);
    this.#stock.await(this);
  }
}
