import type { UserContext } from '../../context.js';
import type { EventStream } from '../../http/answer.js';
import { type Authenticate, identify } from '../../http/identify.js';
import type { Exchange } from '../../http/route.js';
import type { StreamEnd, StreamOptions } from '../../http/sending/stream.js';
import type { Budget } from '../../limits/budget.js';
import { decodePokeRequest, heartbeat, type Listening, pokeEvent, retryField } from '../../protocol/poke.js';
import { Authorization } from './authorization.js';
import { Listeners } from './listeners.js';
import { heartbeatMs, streamLifeMs, streamRetryMs } from './stream-life.js';

/** Calls `poke` whenever there may be something to pull, until the returned function is called. */
export type Listen<Context extends UserContext> = (
  ctx: Context,
  clients: Listening,
  poke: () => void,
) => Promise<() => void>;

/** A client is dropped if it leaves this many bytes of pokes unread, beyond what the network buffers. */
const maxUnreadBytes = 4 * 1024;

/** The open streams of pokes. */
export class PokeStreams<Context extends UserContext> {
  readonly #listen: Listen<Context>;
  readonly #listeners: Listeners;
  readonly #authenticateMs: number;

  /**
   * @param budget of open streams
   * @param authenticateMs the time after which a stream's authorization is confirmed again, in milliseconds
   */
  constructor(listen: Listen<Context>, budget: Budget, authenticateMs: number) {
    this.#listen = listen;
    this.#listeners = new Listeners(budget);
    this.#authenticateMs = authenticateMs;
  }

  /**
   * Opens a stream for a request to the poke endpoint.
   * @throws Problem `unauthenticated`, `malformed-request`; and what `Listeners.enter` and `listen` throw.
   */
  async open(exchange: Exchange, authenticate: Authenticate<Context>): Promise<EventStream> {
    const caller = await identify(exchange, authenticate);
    const { context } = caller;
    const request = decodePokeRequest(new URL(exchange.request.url).searchParams);
    const listener = this.#listeners.enter(context.userID, () => stream.end());
    const authorization = new Authorization(caller, {
      intervalMs: this.#authenticateMs,
      onRefused: (refusal) => listener.end(refusal),
    });
    const stream = new PokeStream(context.expiresAt, () => listener.end());
    await listener.join(
      this.#listen(context, request, () => stream.poke()),
      authorization,
    );
    return stream;
  }

  /** Ends all streams of these users. */
  disconnect(userIDs: ReadonlySet<string>): void {
    this.#listeners.disconnect(userIDs);
  }

  /** Ends all streams, and refuses new ones. */
  close(): void {
    this.#listeners.close();
  }
}

/** One client's stream. It begins with a poke: nothing else tells the client of changes from before it listened. */
class PokeStream implements EventStream {
  readonly kind = 'events';
  readonly #expiresAt: Date | undefined;
  readonly #onEnd: () => void;
  #options: StreamOptions | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timers: NodeJS.Timeout[] = [];
  #hasEnded = false;
  #bytes = 0;

  constructor(expiresAt: Date | undefined, onEnd: () => void) {
    this.#expiresAt = expiresAt;
    this.#onEnd = onEnd;
  }

  open(options: StreamOptions): ReadableStream<Uint8Array> {
    this.#options = options;
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      this.#controller = controller;
      if (this.#hasEnded) {
        controller.close();
        return options.onEnd({ outcome: 'complete', bytes: 0 });
      }
      this.#send(retryField(streamRetryMs()) + pokeEvent);
      this.#timers.push(setInterval(() => this.#send(heartbeat), heartbeatMs));
      const ms = (this.#expiresAt?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now();
      this.#timers.push(setTimeout(() => this.end(), Math.min(ms, streamLifeMs())));
    };
    const cancel = () => this.#finish({ outcome: 'cancelled' });
    return new ReadableStream({ start, cancel }, { highWaterMark: maxUnreadBytes, size: (chunk) => chunk.byteLength });
  }

  poke(): void {
    this.#send(pokeEvent);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#controller?.close();
    this.#finish({ outcome: 'complete' });
  }

  #send(event: string): void {
    const controller = this.#controller;
    if (!controller || this.#hasEnded) return;
    if (controller.desiredSize! > 0) {
      controller.enqueue(Buffer.from(event));
      this.#bytes += event.length;
    } else {
      this.#finish({ outcome: 'dropped' });
      if (!this.#options!.breakOff()) controller.error(new Error('The client reads too slowly'));
    }
  }

  #finish(end: StreamEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#onEnd();
    this.#options?.onEnd({ ...end, bytes: this.#bytes });
  }
}
