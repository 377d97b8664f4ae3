import { closedClient } from './client-error.js';
import type { NamedMutators } from './mutate.js';
import type { Observable } from './observable.js';
import type { AnyOptions } from './options.js';
import { type Session, type SessionLimits, startSession } from './session.js';

/** The session of a client. It starts when it is first used. */
export class LazySession {
  readonly #options: AnyOptions;
  readonly #mutators: NamedMutators;
  readonly #limits: SessionLimits;
  #session: Session | undefined;
  #isClosed = false;

  constructor(options: AnyOptions, mutators: NamedMutators, limits: SessionLimits) {
    this.#options = options;
    this.#mutators = mutators;
    this.#limits = limits;
  }

  /** The session; undefined before it starts. */
  get current(): Session | undefined {
    return this.#session;
  }

  /**
   * Returns the session, and starts it if necessary.
   * @throws ClientError if the client was closed before that
   */
  start(): Session {
    if (this.#isClosed) throw closedClient();
    this.#session ??= startSession(this.#options, this.#mutators, this.#limits);
    return this.#session;
  }

  /** Returns an observable of the session, with the value `value` before the start. Subscribing starts the session. */
  observe<Value>(value: Value, of: (session: Session) => Observable<Value>): Observable<Value> {
    return {
      get: () => (this.#session ? of(this.#session).get() : value),
      subscribe: (listener) => of(this.start()).subscribe(listener),
    };
  }

  /** Closes the session, or prevents its start. */
  async close(): Promise<void> {
    this.#isClosed = !this.#session;
    await this.#session?.close();
  }
}
