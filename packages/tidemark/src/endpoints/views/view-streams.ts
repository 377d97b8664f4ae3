/** Streams the changes of a view, or of one of its rows, as server-sent events. */
import type { UserContext } from '../../context.js';
import type { EventStream } from '../../http/answer.js';
import type { Caller, IdentifiedCaller } from '../../http/identify.js';
import { readAhead } from '../../http/sending/read-ahead.js';
import { type StreamOwner, toStream } from '../../http/sending/stream.js';
import type { Admission } from '../../limits/admission.js';
import { keepAlive, retryField } from '../../protocol/poke.js';
import { cookieIn } from '../../protocol/read-token.js';
import { linesIn, type PatchResult } from '../../pulls/pull-result.js';
import type { PullService } from '../pulls/pull-service.js';
import { keepAliveMs, streamLifeMs, streamRetryMs } from '../subscriptions/stream-life.js';
import type { Watch, Watches } from '../subscriptions/watches.js';
import { opsAsEvent } from './read-answer.js';
import type { ViewRequest } from './view-requests.js';

/** The dependencies of view streams. */
export interface ViewStreamParts<Context extends UserContext> {
  readonly pulls: Pick<PullService<Context>, 'read'>;
  readonly watches: Watches<Context>;
  readonly admission: Admission;
}

/** The maximum time in which a client reads nothing, in milliseconds. */
const stallMs = 30_000;

/**
 * Opens a stream. Its first event brings the caller up to date; if there is nothing new, it waits for the first change.
 * @throws Problem, like `Watches.open` and a `ReadRoute`
 */
export async function openViewStream<Context extends UserContext>(
  viewRequest: ViewRequest,
  caller: IdentifiedCaller<Context>,
  parts: ViewStreamParts<Context>,
): Promise<EventStream> {
  const watch = await parts.watches.open(caller, viewRequest);
  try {
    const stream = new ViewStream(viewRequest, caller, parts, watch);
    await stream.begin();
    return stream;
  } catch (error) {
    watch.end();
    throw error;
  }
}

class ViewStream<Context extends UserContext> implements EventStream, AsyncIterator<Uint8Array>, StreamOwner {
  readonly kind = 'events';
  readonly #viewRequest: ViewRequest;
  readonly #caller: Caller<Context>;
  readonly #parts: ViewStreamParts<Context>;
  readonly #watch: Watch<Context>;
  readonly #events = this.#write();
  #cookie: unknown;
  #first: PatchResult | undefined;
  #life: NodeJS.Timeout | undefined;
  #response: StreamOwner | undefined;

  constructor(
    viewRequest: ViewRequest,
    caller: Caller<Context>,
    parts: ViewStreamParts<Context>,
    watch: Watch<Context>,
  ) {
    this.#viewRequest = viewRequest;
    // The request outlasts its reads, so their annotations would not describe it.
    this.#caller = { ...caller, annotations: undefined };
    this.#parts = parts;
    this.#watch = watch;
    this.#cookie = cookieIn(viewRequest.since ?? '');
  }

  /** Reads the view for the first event. */
  async begin(): Promise<void> {
    this.#first = await this.#read(false);
    this.#life = setTimeout(() => this.#watch.end(), streamLifeMs());
  }

  open(response: StreamOwner): ReadableStream<Uint8Array> {
    this.#response = response;
    return toStream(this, this, { stallMs });
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return this.#events.next();
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    // A pending wait for a change would not end otherwise.
    this.#end();
    const ended = await this.#events.return(undefined);
    await this.#first?.more?.close();
    return ended;
  }

  ended(end: Parameters<StreamOwner['ended']>[0]): void {
    this.#end();
    this.#response!.ended(end);
  }

  breakOff(): boolean {
    return this.#response!.breakOff();
  }

  #end(): void {
    clearTimeout(this.#life);
    this.#watch.end();
  }

  /** Returns what has changed since the previous call; undefined if nothing has. */
  async #read(isFollowing: boolean): Promise<PatchResult | undefined> {
    const request = { ...this.#viewRequest, format: 'ops', cookie: this.#cookie, isFollowing } as const;
    const pulled = await this.#parts.pulls.read(request, { ...this.#caller, context: this.#watch.context });
    if (!('cookie' in pulled)) return undefined;
    this.#cookie = pulled.cookie;
    return pulled;
  }

  async *#write(): AsyncGenerator<Uint8Array, undefined> {
    yield Buffer.from(retryField(streamRetryMs()));
    for (let patch = this.#first, outcome = 'changed'; outcome !== 'ended'; ) {
      if (patch) yield* opsAsEvent(patch, readAhead(linesIn(patch), this.#caller, this.#parts.admission.spool));
      outcome = await this.#watch.waitForChange(keepAliveMs);
      if (outcome === 'timeout') yield Buffer.from(keepAlive);
      patch = outcome === 'changed' ? await this.#read(true) : undefined;
      if (!this.#watch.refusal) continue;
      await patch?.more?.close();
      break;
    }
    return undefined;
  }
}
