import { setTimeout as sleep } from 'node:timers/promises';
import type { UserContext } from '../context.js';
import { SetupError } from '../errors.js';
import type { Caller } from '../http/identify.js';
import type { ClientViewInput } from '../installation/current-installation.js';
import { NoPlaceError } from '../limits/gate.js';
import { describeError, type Logger } from '../log.js';
import type { TailState } from '../pokes/tail.js';
import { orderOf } from '../protocol/cookie.js';
import type { Listening } from '../protocol/poke.js';
import { noGroup, type PullRequest } from '../protocol/pull.js';
import type { AuditState } from '../pulls/auditor.js';
import type { Demanding } from '../pulls/demand.js';
import type { PulledPart, Pulls, ReadRequest } from '../pulls/pull-route.js';
import type { Patched, Pulled } from '../pulls/pulled.js';
import type { ViewPart } from '../view/client-views.js';
import type { Window } from '../window/window.js';
import { everything, nothing, ownWrites, type Wanted } from './demands.js';
import { MovingListeners } from './moving-listeners.js';
import { Nudges } from './nudges.js';
import type { PacedLooks } from './paced-looks.js';
import { replaceable } from './replaceable.js';
import type { Source } from './source.js';
import type { Standby, StandbyState } from './standby.js';
import { Standbys } from './standbys.js';

/** How long a standby has to show what it must, in milliseconds. */
const waitMs = 50;

/** Why the primary was asked after a standby. */
export type Fallback = 'behind' | 'uncertain' | 'failed';

/** What sources are made of. */
export interface SourcesOptions<Context extends UserContext> {
  readonly primary: Source<Context>;
  readonly standbys: readonly Standby<Context>[];
  /** Looks at what mutations the primary has applied. */
  readonly moves: PacedLooks;
  readonly log: Logger;
  readonly onFallback: (why: Fallback) => void;
}

/** What is asked of a standby. */
interface Question<Context extends UserContext, T extends Pulled> {
  readonly input: ClientViewInput<Context>;
  readonly part?: ViewPart | undefined;
  /** @param window the primary's, if it answers */
  readonly wanted: (window: Window | undefined) => Wanted;
  readonly read: (pulls: Pulls<Context>, demand?: Demanding) => Promise<T>;
  /** What a standby has answered, so that it does not matter if the standby fails before the end. */
  readonly secured: (pulled: T) => T;
}

/**
 * Has each client read from a standby of its own, as long as that shows all that the client has seen and written, and
 * from the primary otherwise.
 */
export class Sources<Context extends UserContext> {
  readonly #primary: Source<Context>;
  readonly #standbys: Standbys<Context>;
  readonly #listeners: MovingListeners<Context>;
  readonly #nudges: Nudges;
  readonly #options: SourcesOptions<Context>;

  constructor(options: SourcesOptions<Context>) {
    const { primary, standbys, log } = options;
    this.#options = options;
    this.#primary = primary;
    this.#standbys = new Standbys(standbys, primary.db, log, () => this.#listeners.move());
    this.#listeners = new MovingListeners((listening, userID) => this.#placesOf(listening, userID), log);
    this.#nudges = new Nudges(() => this.#standbys.used.map(({ source }) => source.tail));
  }

  /** @throws SetupError if one of the standbys follows another primary */
  start(): Promise<void> {
    return this.#standbys.start();
  }

  /** Rejects with the reason while pulls cannot be answered. Most can, as long as a standby answers. */
  async ready(input: ClientViewInput<Context>): Promise<void> {
    try {
      await this.#primary.installation.bind(input);
    } catch (error) {
      const [standby] = this.#standbys.used;
      if (error instanceof SetupError || !standby) throw error;
      await standby.source.installation.bind(input);
    }
  }

  /** As `Pulls.pull`. */
  pull(request: PullRequest, caller: Caller<Context>): Promise<Pulled> {
    const { clientGroupID, profileID, schemaVersion, refused } = request;
    return this.#read<Pulled>(keyOf(clientGroupID, caller.context.userID), caller, {
      input: { ctx: caller.context, profileID, schemaVersion, refused },
      wanted: (window) => ownWrites(window, clientGroupID),
      read: (pulls, demand) => pulls.pull(request, caller, demand),
      secured: (pulled) => ('cookie' in pulled ? replaceable(pulled, () => this.#pullAll(request, caller)) : pulled),
    });
  }

  /** As `Pulls.read`. */
  read(request: ReadRequest, caller: Caller<Context>): Promise<PulledPart> {
    const { profileID, schemaVersion, part, isFollowing } = request;
    return this.#read(keyOf(noGroup, caller.context.userID), caller, {
      input: { ctx: caller.context, profileID, schemaVersion },
      part,
      wanted: (window) => (isFollowing ? nothing : everything(window)),
      read: (pulls, demand) => pulls.read(request, caller, demand),
      // Its rows may have been taken as they came.
      secured: (pulled) => pulled,
    });
  }

  /** As `Tail.listen`, wherever the client's pulls read. */
  async listen(ctx: Context, listening: Listening, poke: () => void, part?: ViewPart): Promise<() => void> {
    try {
      return await this.#listeners.listen(ctx, listening, poke, part);
    } catch (error) {
      if (this.#standbys.used.length === 0) throw error;
      await this.#standbys.check();
      return this.#listeners.listen(ctx, listening, poke, part);
    }
  }

  /** Something has been committed on the primary. */
  nudge(): void {
    this.#primary.tail.nudge();
    if (this.#standbys.used.length > 0) this.#nudges.nudge();
  }

  get #all(): readonly Source<Context>[] {
    return [this.#primary, ...this.#standbys.all.map(({ source }) => source)];
  }

  /** Of all tails together: the one that is latest. */
  tail(): TailState {
    const tails = this.#all.map(({ tail }) => tail.state());
    const lags = tails.flatMap(({ lagMs }) => lagMs ?? []);
    const listeners = tails.reduce((sum, tail) => sum + tail.listeners, 0);
    return { listeners, lagMs: lags.length === 0 ? null : Math.max(...lags) };
  }

  /** Of all audits together. */
  audits(): AuditState {
    const states = this.#all.map(({ audits }) => audits());
    const sum = (of: (state: AuditState) => number) => states.reduce((all, state) => all + of(state), 0);
    return { compared: sum(({ compared }) => compared), differences: sum(({ differences }) => differences) };
  }

  /** The standbys, and how they were found last. */
  standbys(): readonly StandbyState[] {
    return this.#standbys.all.map(({ name, isUsed, found }) => ({ name, isUsed, lagMs: found.lagMs }));
  }

  /** Ends the background work, and closes the connections to the standbys. */
  async close(): Promise<void> {
    this.#standbys.close();
    this.#nudges.close();
    for (const { tail } of this.#all) tail.close();
    await Promise.all(this.#standbys.all.map(({ source }) => source.db.close()));
  }

  async #read<T extends Pulled>(key: string, caller: Caller<Context>, question: Question<Context, T>): Promise<T> {
    const standby = this.#standbys.of(key);
    if (!standby) return question.read(this.#primary.pulls);
    const found = await this.#readFrom(standby, caller, question);
    if (typeof found !== 'string') return found;
    this.#options.onFallback(found);
    return question.read(this.#primary.pulls);
  }

  async #readFrom<T extends Pulled>(
    standby: Standby<Context>,
    caller: Caller<Context>,
    { input, part, wanted, read, secured }: Question<Context, T>,
  ): Promise<T | Fallback> {
    const { moves, log } = this.#options;
    const confirms = async (viewsDigest: string) =>
      (await this.#primary.installation.bind(input, part)).viewsDigest === viewsDigest;
    const want = wanted(await moves.look());
    const until = performance.now() + waitMs;
    for (let pauseMs = 1; ; pauseMs *= 2) {
      try {
        const reading = read(standby.source.pulls, (base) => ({ ...want(base), confirms }));
        const pulled = await standby.ask(reading, closeLate);
        if (pulled.kind !== 'behind') return secured(pulled);
        if (pulled.isUncertain) return 'uncertain';
      } catch (error) {
        if (error instanceof NoPlaceError || caller.signal?.().aborted) throw error;
        log.debug({ standby: standby.name, error: describeError(error) }, 'A standby has failed to answer');
        void this.#standbys.check();
        return 'failed';
      }
      if (performance.now() + pauseMs > until) return 'behind';
      await sleep(pauseMs);
    }
  }

  /** All data, from the primary. Its order is higher than that of the request. */
  async #pullAll(request: PullRequest, caller: Caller<Context>): Promise<Patched> {
    this.#options.onFallback('failed');
    const order = orderOf(request.cookie);
    const pulled = await this.#primary.pulls.pull(
      { ...request, cookie: order === undefined ? null : { order } },
      caller,
    );
    if (!('cookie' in pulled)) throw new Error('A pull without a cookie has all data');
    return pulled;
  }

  #placesOf({ clientGroupID }: Listening, userID: string): readonly Source<Context>[] {
    const { used } = this.#standbys;
    if (used.length === 0) return [this.#primary];
    // Each of a user's client groups reads from a standby of its own.
    if (clientGroupID === undefined) return used.map(({ source }) => source);
    return [this.#standbys.of(keyOf(clientGroupID, userID))!.source];
  }
}

/** By this key, pulls are assigned to standbys, and those who listen for what to pull. */
function keyOf(clientGroupID: string, userID: string): string {
  return clientGroupID === noGroup ? `user ${userID}` : `group ${clientGroupID}`;
}

/** Nobody waits for what a standby has answered. */
function closeLate(pulled: Pulled): void {
  if ('more' in pulled) void pulled.more?.close();
}
