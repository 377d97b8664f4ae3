import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import { checkContext } from '../http/identify.js';
import type { Budget } from '../limits/budget.js';
import { describeError, type Logger } from '../log.js';
import { type PokedClients, readPokedClients } from '../protocol/poke.js';
import type { Listen } from './poke-streams.js';

/** What hooks are made with. */
export interface PokeHooksOptions<Context extends UserContext> {
  readonly listen: Listen<Context>;
  /** Of streams, among which hooks count. */
  readonly budget: Budget;
  readonly log: Logger;
}

/** Functions of the application that are called in place of streams of pokes, for other ways to reach clients. */
export class PokeHooks<Context extends UserContext> {
  readonly #options: PokeHooksOptions<Context>;
  readonly #open = new Set<() => void>();
  #isClosed = false;

  constructor(options: PokeHooksOptions<Context>) {
    this.#options = options;
  }

  /**
   * Calls `poke` at once, and then whenever the user's clients may have something to pull, until the returned function
   * is called, the context expires or the server closes. What `poke` throws is logged.
   * @throws Problem `unavailable` if the server is closed or has too many streams, `too-many-requests` if the user has,
   * `malformed-request` for clients that cannot be; and what `listen` throws.
   */
  async open(ctx: Context, poke: () => unknown, clients: PokedClients = {}): Promise<() => void> {
    const { listen, budget, log } = this.#options;
    checkContext(ctx);
    const listening = readPokedClients(clients);
    const holding = budget.open(ctx.userID);
    let leave = () => {};
    const stop = () => {
      this.#open.delete(stop);
      leave();
      holding.end();
    };
    const call = async () => poke();
    const onPoke = () => {
      if (!this.#open.has(stop)) return;
      if (ctx.expiresAt && ctx.expiresAt.getTime() <= Date.now()) return stop();
      call().catch((error: unknown) => log.error({ error: describeError(error) }, 'A function for pokes failed'));
    };
    if (this.#isClosed) throw new Problem('unavailable', 'The server is closed');
    holding.take(1);
    this.#open.add(stop);
    try {
      leave = await listen(ctx, listening, onPoke);
    } catch (error) {
      stop();
      throw error;
    }
    // It was closed while it waited.
    if (!this.#open.has(stop)) leave();
    onPoke();
    return stop;
  }

  /** Ends all hooks, and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    for (const stop of this.#open) stop();
  }
}
