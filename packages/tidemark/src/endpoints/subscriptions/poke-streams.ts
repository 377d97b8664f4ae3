import type { UserContext } from '../../context.js';
import type { EventStream } from '../../http/answer.js';
import { readJSON } from '../../http/body.js';
import { type Authenticate, identify } from '../../http/identify.js';
import type { Exchange } from '../../http/route.js';
import type { StreamEnd, StreamOwner } from '../../http/sending/stream.js';
import type { Admission } from '../../limits/admission.js';
import { decodePokeBody, decodePokeRequest, keepAlive, pokeEvent, retryField } from '../../protocol/poke.js';
import type { RequestedWant } from '../../protocol/wants.js';
import type { ReplicaRouter } from '../../replicas/replica-router.js';
import type { WantChecker } from '../pulls/want-checker.js';
import { Authorization } from './authorization.js';
import { type Registration, Registrations } from './registrations.js';
import { keepAliveMs, streamLifeMs, streamRetryMs } from './stream-life.js';

/** The server drops a client that leaves this many bytes of pokes unread, beyond what the network buffers. */
const maxUnreadBytes = 4 * 1024;

/** The collaborators of `PokeStreams`. */
export interface PokeStreamsOptions<Context extends UserContext> {
  readonly replicaRouter: Pick<ReplicaRouter<Context>, 'subscribe'>;
  readonly admission: Pick<Admission, 'streams' | 'bodies' | 'limits'>;
  readonly wantChecker: Pick<WantChecker, 'check'>;
  /** The time after which a stream's authorization is confirmed again, in milliseconds. */
  readonly authenticateMs: number;
}

/** The open streams of pokes. */
export class PokeStreams<Context extends UserContext> {
  readonly #replicaRouter: Pick<ReplicaRouter<Context>, 'subscribe'>;
  readonly #admission: PokeStreamsOptions<Context>['admission'];
  readonly #registrations: Registrations;
  readonly #wantChecker: Pick<WantChecker, 'check'>;
  readonly #authenticateMs: number;

  constructor({ replicaRouter, admission, wantChecker, authenticateMs }: PokeStreamsOptions<Context>) {
    this.#replicaRouter = replicaRouter;
    this.#admission = admission;
    this.#registrations = new Registrations(admission.streams);
    this.#wantChecker = wantChecker;
    this.#authenticateMs = authenticateMs;
  }

  /**
   * Opens a stream for a request to the poke endpoint.
   * @throws Problem `unauthenticated`, `malformed-request`; and what `Registrations.register` and
   * `ReplicaRouter.subscribe` throw.
   */
  async open(exchange: Exchange, authenticate: Authenticate<Context>): Promise<EventStream> {
    const caller = await identify(exchange, authenticate);
    const { context } = caller;
    const query = decodePokeRequest(new URL(exchange.request.url).searchParams);
    const requested =
      exchange.request.method === 'POST' ? await readWants(exchange, context.userID, this.#admission) : undefined;
    const { wants } = await this.#wantChecker.check(requested);
    const request = { ...query, ...(requested && { wants }) };
    const registration = this.#registrations.register(context.userID, () => stream.end());
    const authorization = new Authorization(caller, registration, this.#authenticateMs);
    const stream = new PokeStream(context.expiresAt, registration);
    await registration.activate(
      this.#replicaRouter.subscribe(context, request, () => stream.poke()),
      authorization,
    );
    return stream;
  }

  /** Ends all streams of these users. */
  disconnect(userIDs: ReadonlySet<string>): void {
    this.#registrations.disconnect(userIDs);
  }

  /** Ends all streams, and refuses new ones. */
  close(): void {
    this.#registrations.close();
  }
}

/** Reads the wants in the body of a request, which do not fit into a URL. */
function readWants(
  { request }: Exchange,
  userID: string,
  { bodies, limits }: Pick<Admission, 'bodies' | 'limits'>,
): Promise<readonly RequestedWant[] | undefined> {
  return bodies.during(userID, async (reservation) => {
    const { value } = await readJSON(request, { limit: limits.pull, reservation });
    return decodePokeBody(value);
  });
}

/** One client's stream. It begins with a poke, because no other poke covers changes from before the subscription. */
class PokeStream implements EventStream {
  readonly kind = 'events';
  readonly #expiresAt: Date | undefined;
  readonly #registration: Registration;
  #owner: StreamOwner | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timers: NodeJS.Timeout[] = [];
  #hasEnded = false;
  #bytes = 0;

  constructor(expiresAt: Date | undefined, registration: Registration) {
    this.#expiresAt = expiresAt;
    this.#registration = registration;
  }

  open(owner: StreamOwner): ReadableStream<Uint8Array> {
    this.#owner = owner;
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      this.#controller = controller;
      if (this.#hasEnded) {
        controller.close();
        return owner.ended({ outcome: 'complete', bytes: 0 });
      }
      this.#send(retryField(streamRetryMs()) + pokeEvent);
      this.#timers.push(setInterval(() => this.#send(keepAlive), keepAliveMs));
      const ms = Math.max(0, (this.#expiresAt?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now());
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
      if (!this.#owner!.breakOff()) controller.error(new Error('The client reads too slowly'));
    }
  }

  #finish(end: StreamEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#registration.end();
    this.#owner?.ended({ ...end, bytes: this.#bytes });
  }
}
