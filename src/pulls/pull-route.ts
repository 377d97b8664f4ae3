import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { isOfValues } from '../db/sqlstate.js';
import { behind, type Gates } from '../gates.js';
import type { JSONAnswer } from '../http/answer.js';
import type { Caller } from '../http/identify.js';
import type { Bound, CurrentInstallation, OutdatedError } from '../installation/current-installation.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import { noGroup, type PullRequest } from '../protocol/pull.js';
import type { ViewPart } from '../view/client-views.js';
import { KnownCookies } from '../window/known-cookies.js';
import type { Looks } from '../window/looks.js';
import type { Auditor } from './auditor.js';
import { DeltaSizes } from './delta-size.js';
import type { Demanding } from './demand.js';
import { Pull, type PullParts } from './pull.js';
import { toAnswer } from './pull-answer.js';
import type { Pulled } from './pulled.js';
import { SharedReads } from './shared-reads.js';

export interface PullOptions<Context extends UserContext> {
  readonly db: Database;
  readonly gates: Gates;
  readonly installation: CurrentInstallation<Context>;
  /** If undefined, each pull reads the change log by itself. */
  readonly looks: Looks | undefined;
  readonly auditor: Auditor;
}

/**
 * Answers a pull with the changes since the request's cookie, as of one snapshot of the database.
 * @throws Problem if the client group belongs to another user, or a client's record is lost; SetupError; and every
 * transient failure.
 */
export type PullRoute<Context extends UserContext> = (
  request: PullRequest,
  caller: Caller<Context>,
) => Promise<ProtocolError | JSONAnswer>;

/** What is read without a client group. */
export interface ReadRequest extends Pick<PullRequest, 'profileID' | 'schemaVersion' | 'cookie'> {
  readonly part: ViewPart;
  /** `rows`: all of them, as soon as anything has changed since the cookie. `ops`: what has changed. */
  readonly form: PullParts['form'];
  /** It goes on from the cookie, after a poke: what the poke was about is enough, wherever it is read. */
  readonly isFollowing: boolean;
}

/** What has been read. `lost` is never the outcome. With `rows`, `delta` is not. */
export type PulledPart = Exclude<Pulled, { kind: 'lost' }>;

/**
 * Pulls a part of a client view, without a client group. With `rows`, a cookie that shows as much as a new one is kept.
 * What is pulled must be read to its end, or closed.
 * @throws as a `PullRoute`
 */
export type ReadRoute<Context extends UserContext> = (
  request: ReadRequest,
  caller: Caller<Context>,
) => Promise<PulledPart>;

/**
 * The ways to pull from one database. What is pulled must be read to its end, or closed.
 * @throws as a `PullRoute`
 */
export interface Pulls<Context extends UserContext> {
  /** @param demand what a standby must show */
  pull(request: PullRequest, caller: Caller<Context>, demand?: Demanding): Promise<Pulled>;
  read(request: ReadRequest, caller: Caller<Context>, demand?: Demanding): Promise<PulledPart>;
}

/**
 * Makes responses of what is pulled.
 * @param schemaVersions those that the application serves; all if undefined
 */
export function pullRoute<Context extends UserContext>(
  pull: Pulls<Context>['pull'],
  schemaVersions: readonly string[] | undefined,
): PullRoute<Context> {
  return async (request, caller) => {
    if (schemaVersions && !schemaVersions.includes(request.schemaVersion)) {
      return { error: 'VersionNotSupported', versionType: 'schema' };
    }
    return toAnswer(request, await pull(request, caller), (ops) => caller.tell?.({ ops }));
  };
}

/** Nothing but speed depends on what it keeps once a pull is answered. */
export function createPulls<Context extends UserContext>(options: PullOptions<Context>): Pulls<Context> {
  const { db, gates, installation, looks, auditor } = options;
  const gated = behind(gates.reads, db);
  const reads = new SharedReads(gated, looks);
  const cookies = new KnownCookies();
  const sizes = new DeltaSizes(gated);
  // Field by field, since this is on the way of each pull, and V8 does not spread objects of many fields fast.
  const pullOf = (
    bound: Bound,
    request: PullRequest,
    caller: Caller<Context>,
    form: PullParts['form'],
    demand: Demanding | undefined,
  ): Pull =>
    new Pull({
      db,
      reads,
      cookies,
      sizes,
      gates,
      auditor,
      installation: bound.installation,
      views: bound.views,
      viewsDigest: bound.viewsDigest,
      viewDigests: bound.viewDigests,
      parameters: bound.parameters,
      shapes: bound.shapes,
      formDigest: bound.formDigest,
      request,
      caller,
      form,
      demand,
      changedSince: (cookie) => installation.changedSince(cookie, bound, caller.context.userID),
      alteredSince: (tables, shapes) => installation.alteredSince(tables, shapes),
      haveChanged: (tables) => installation.haveChanged(tables),
    });
  return {
    pull(request, caller, demand) {
      const { profileID, schemaVersion, refused } = request;
      return installation.serve({ ctx: caller.context, profileID, schemaVersion, refused }, (bound, last) =>
        pullOf(bound, request, caller, 'ops', demand).answer(last?.header),
      );
    },

    async read({ part, form, isFollowing: _, ...asked }, caller, demand) {
      const { profileID, schemaVersion } = asked;
      const attempt = async (bound: Bound, cookie: unknown, last?: OutdatedError) => {
        const request = { ...asked, clientGroupID: noGroup, cookie };
        const pulled = await pullOf(bound, request, caller, form, demand).answer(last?.header);
        if (pulled.kind === 'lost') throw new Error('A read has no client group that could be lost');
        return pulled;
      };
      return installation.serve(
        { ctx: caller.context, profileID, schemaVersion },
        async (bound, last) => {
          const pulled = await findingByIndex(part, bound, (found) => attempt(found, asked.cookie, last));
          if (form === 'ops' || pulled.kind !== 'delta') return pulled;
          await pulled.more?.close();
          return findingByIndex(part, bound, (found) => attempt(found, null));
        },
        part,
      );
    },
  };
}

/**
 * If Postgres refuses the text of a key, no row has that key; or the view itself fails. A search by the text alone, through
 * all rows, tells which.
 */
async function findingByIndex<T>({ key }: ViewPart, bound: Bound, work: (bound: Bound) => Promise<T>): Promise<T> {
  try {
    return await work(bound);
  } catch (error) {
    if (!isOfValues(error) || key === undefined) throw error;
    const views = bound.views.map((one) => ({ ...one, view: { ...one.view, whole: one.view.now } }));
    return work({ ...bound, views });
  }
}
