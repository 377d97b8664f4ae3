import type { UserContext } from '../../context.js';
import { checkContext } from '../../http/identify.js';
import type { Budget } from '../../limits/budget.js';
import { describeError, type Logger } from '../../log.js';
import { type PokedClients, readPokedClients } from '../../protocol/poke.js';
import type { ReplicaRouter } from '../../replicas/replica-router.js';
import { Registrations } from './registrations.js';

/** The options of `PokeHooks`. */
export interface PokeHooksOptions<Context extends UserContext> {
  readonly replicaRouter: Pick<ReplicaRouter<Context>, 'subscribe'>;
  /** The budget of streams. Hooks count as streams. */
  readonly budget: Budget;
  readonly log: Logger;
}

/** Functions of the application that replace streams of pokes, to reach clients in other ways. */
export class PokeHooks<Context extends UserContext> {
  readonly #replicaRouter: Pick<ReplicaRouter<Context>, 'subscribe'>;
  readonly #registrations: Registrations;
  readonly #log: Logger;

  constructor({ replicaRouter, budget, log }: PokeHooksOptions<Context>) {
    this.#replicaRouter = replicaRouter;
    this.#registrations = new Registrations(budget);
    this.#log = log;
  }

  /**
   * Calls `poke` immediately, then whenever the user's clients may have something to pull, until the returned function
   * is called, the user is disconnected, the context expires or the server closes. Logs errors of `poke` and `onEnd`.
   * @param onEnd called once, unless the returned function ends the hook
   * @throws Problem `malformed-request` for invalid clients; and whatever `Registrations.register`,
   * `Registration.activate` and `ReplicaRouter.subscribe` throw.
   */
  async open(
    ctx: Context,
    poke: () => unknown,
    clients: PokedClients = {},
    onEnd: () => unknown = () => {},
  ): Promise<() => void> {
    checkContext(ctx);
    const checkedClients = readPokedClients(clients);
    let isOpen = false;
    const registration = this.#registrations.register(ctx.userID, () => isOpen && this.#call(onEnd));
    const onPoke = () => {
      if (registration.hasEnded) return;
      if (ctx.expiresAt && ctx.expiresAt.getTime() <= Date.now()) return registration.end();
      this.#call(poke);
    };
    await registration.activate(this.#replicaRouter.subscribe(ctx, checkedClients, onPoke));
    isOpen = true;
    if (registration.hasEnded) this.#call(onEnd);
    onPoke();
    return () => {
      isOpen = false;
      registration.end();
    };
  }

  /** Ends all hooks of these users. */
  disconnect(userIDs: ReadonlySet<string>): void {
    this.#registrations.disconnect(userIDs);
  }

  /** Ends all hooks, and refuses new ones. */
  close(): void {
    this.#registrations.close();
  }

  #call(hook: () => unknown): void {
    const call = async () => hook();
    call().catch((error: unknown) => this.#log.error({ error: describeError(error) }, 'A function for pokes failed'));
  }
}
