import type { UserContext } from '../../context.js';
import { checkContext } from '../../http/identify.js';
import type { Budget } from '../../limits/budget.js';
import { describeError, type Logger } from '../../log.js';
import { type PokedClients, readPokedClients } from '../../protocol/poke.js';
import { Listeners } from './listeners.js';
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
  readonly #listen: Listen<Context>;
  readonly #listeners: Listeners;
  readonly #log: Logger;

  constructor({ listen, budget, log }: PokeHooksOptions<Context>) {
    this.#listen = listen;
    this.#listeners = new Listeners(budget);
    this.#log = log;
  }

  /**
   * Calls `poke` at once, and then whenever the user's clients may have something to pull, until the returned function
   * is called, the user is disconnected, the context expires or the server closes. What `poke` and `onEnd` throw is logged.
   * @param onEnd called once, if the hook ends otherwise than by the returned function
   * @throws Problem `malformed-request` for clients that cannot be; and what `Listeners.enter`, `Listener.join` and
   * `listen` throw.
   */
  async open(
    ctx: Context,
    poke: () => unknown,
    clients: PokedClients = {},
    onEnd: () => unknown = () => {},
  ): Promise<() => void> {
    checkContext(ctx);
    const listening = readPokedClients(clients);
    let isHeld = false;
    const listener = this.#listeners.enter(ctx.userID, () => isHeld && this.#call(onEnd));
    const onPoke = () => {
      if (listener.hasEnded) return;
      if (ctx.expiresAt && ctx.expiresAt.getTime() <= Date.now()) return listener.end();
      this.#call(poke);
    };
    await listener.join(this.#listen(ctx, listening, onPoke));
    isHeld = true;
    if (listener.hasEnded) this.#call(onEnd);
    onPoke();
    return () => {
      isHeld = false;
      listener.end();
    };
  }

  /** Ends all hooks of these users. */
  disconnect(userIDs: ReadonlySet<string>): void {
    this.#listeners.disconnect(userIDs);
  }

  /** Ends all hooks, and refuses new ones. */
  close(): void {
    this.#listeners.close();
  }

  #call(hook: () => unknown): void {
    const call = async () => hook();
    call().catch((error: unknown) => this.#log.error({ error: describeError(error) }, 'A function for pokes failed'));
  }
}
