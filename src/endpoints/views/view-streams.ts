/** Streams of the changes of a view, or of one of its rows, as server-sent events. */
import type { UserContext } from '../../context.js';
import type { EventStream } from '../../http/answer.js';
import type { Caller, Identified } from '../../http/identify.js';
import { readAhead } from '../../http/sending/read-ahead.js';
import { toStream } from '../../http/sending/stream.js';
import type { Budget } from '../../limits/budget.js';
import { heartbeat, retryField } from '../../protocol/poke.js';
import { cookieIn } from '../../protocol/read-token.js';
import type { ReadRoute } from '../../pulls/pull-route.js';
import { linesIn, type Patched } from '../../pulls/pulled.js';
import { opsAsEvent } from '../../pulls/read-answer.js';
import { heartbeatMs, streamLifeMs, streamRetryMs } from '../listening/stream-life.js';
import type { Watch, Watches } from '../listening/watches.js';
import type { Asked } from './view-requests.js';

/** What streams are made of. */
export interface ViewStreamParts<Context extends UserContext> {
  readonly read: ReadRoute<Context>;
  readonly watches: Watches<Context>;
  /** For what is read ahead for slow clients. */
  readonly spool: Budget;
}

/** How long a client may take nothing, in milliseconds. */
const stallMs = 30_000;

/**
 * Opens a stream. Its first event brings the caller up to date; if there is nothing new, it waits for the first change.
 * @throws Problem as `Watches.open`, and as a `ReadRoute`
 */
export async function openViewStream<Context extends UserContext>(
  asked: Asked,
  caller: Identified<Context>,
  parts: ViewStreamParts<Context>,
): Promise<EventStream> {
  const watch = await parts.watches.open(caller, asked);
  try {
    const stream = new ViewStream(asked, caller, parts, watch);
    const first = await stream.read(false);
    const life = setTimeout(() => watch.end(), streamLifeMs());
    const events = stream.events(first);
    const end = () => {
      clearTimeout(life);
      watch.end();
    };
    return {
      kind: 'events',
      open: (options) =>
        toStream(
          {
            next: () => events.next(),
            // Whoever waits for a change would not notice otherwise.
            return: async () => {
              end();
              const ended = await events.return(undefined);
              await first?.more?.close();
              return ended;
            },
          },
          {
            ...options,
            onEnd(how) {
              end();
              options.onEnd(how);
            },
          },
          { stallMs },
        ),
    };
  } catch (error) {
    watch.end();
    throw error;
  }
}

class ViewStream<Context extends UserContext> {
  readonly #asked: Asked;
  readonly #caller: Caller<Context>;
  readonly #parts: ViewStreamParts<Context>;
  readonly #watch: Watch<Context>;
  #cookie: unknown;

  constructor(asked: Asked, caller: Caller<Context>, parts: ViewStreamParts<Context>, watch: Watch<Context>) {
    this.#asked = asked;
    // The request lasts longer than its reads: what is told of it says nothing about them.
    this.#caller = { ...caller, tell: undefined };
    this.#parts = parts;
    this.#watch = watch;
    this.#cookie = cookieIn(asked.since ?? '');
  }

  /** What has changed since this was called last, if anything. */
  async read(isFollowing: boolean): Promise<Patched | undefined> {
    const request = { ...this.#asked, form: 'ops', cookie: this.#cookie, isFollowing } as const;
    const pulled = await this.#parts.read(request, { ...this.#caller, context: this.#watch.context });
    if (!('cookie' in pulled)) return undefined;
    this.#cookie = pulled.cookie;
    return pulled;
  }

  async *events(first: Patched | undefined): AsyncGenerator<Uint8Array, undefined> {
    yield Buffer.from(retryField(streamRetryMs()));
    for (let patched = first, awaited = 'changed'; awaited !== 'over'; ) {
      if (patched) yield* opsAsEvent(patched, readAhead(linesIn(patched), this.#caller, this.#parts.spool));
      awaited = await this.#watch.changed(heartbeatMs);
      if (awaited === 'late') yield Buffer.from(heartbeat);
      patched = awaited === 'changed' ? await this.read(true) : undefined;
      if (!this.#watch.refusal) continue;
      await patched?.more?.close();
      break;
    }
    return undefined;
  }
}
