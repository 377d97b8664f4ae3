import type { ChangeLogPoller } from '../change-log/change-log-poller.js';
import { CookieCache } from '../change-log/cookie-cache.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { isOfValues } from '../db/sqlstate.js';
import type { JSONAnswer } from '../http/answer.js';
import type { Caller } from '../http/identify.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import { noGroup, type PullRequest } from '../protocol/pull.js';
import type { OutdatedError, ResolvedViews, SchemaCache } from '../schema/schema-cache.js';
import { type Semaphores, throttleQueries } from '../semaphores.js';
import type { ViewPart } from '../view/client-views.js';
import type { ConsistencyChecker } from './consistency-checker.js';
import { DeltaSizes } from './delta-size.js';
import { Pull, type PullParts } from './pull.js';
import { toAnswer } from './pull-answer.js';
import type { PullResult } from './pull-result.js';
import type { RequirementOf } from './read-requirement.js';
import { SharedReads } from './shared-reads.js';

export interface PullOptions<Context extends UserContext> {
  readonly db: Database;
  readonly semaphores: Semaphores;
  readonly schemaCache: SchemaCache<Context>;
  /** If undefined, each pull reads the change log with a statement of its own. */
  readonly poller: ChangeLogPoller | undefined;
  readonly consistencyChecker: ConsistencyChecker;
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

/** A read: a pull without a client group. */
export interface ReadRequest extends Pick<PullRequest, 'profileID' | 'schemaVersion' | 'cookie'> {
  readonly part: ViewPart;
  /** `rows`: all rows, if anything has changed since the cookie. `ops`: the changes. */
  readonly format: PullParts['format'];
  /** True if the read continues from the cookie after a poke. Any database that shows the poke's changes will do. */
  readonly isFollowing: boolean;
}

/** The result of a read. It is never `lost`, and with `rows`, never `delta`. */
export type ReadResult = Exclude<PullResult, { kind: 'lost' }>;

/**
 * Pulls a part of a client view, without a client group. With `rows`, the cookie stays the same until something
 * changes. The caller must read the result to its end, or close it.
 * @throws as a `PullRoute`
 */
export type ReadRoute<Context extends UserContext> = (
  request: ReadRequest,
  caller: Caller<Context>,
) => Promise<ReadResult>;

/**
 * Pulls and reads from one database. The caller must read a result to its end, or close it.
 * @throws as a `PullRoute`
 */
export interface Pulls<Context extends UserContext> {
  /** @param requirementOf the read requirement, if the database is a standby */
  pull(request: PullRequest, caller: Caller<Context>, requirementOf?: RequirementOf): Promise<PullResult>;
  read(request: ReadRequest, caller: Caller<Context>, requirementOf?: RequirementOf): Promise<ReadResult>;
}

/**
 * Turns the results of pulls into responses.
 * @param schemaVersions the versions that the application serves; all if undefined
 */
export function pullRoute<Context extends UserContext>(
  pull: Pulls<Context>['pull'],
  schemaVersions: readonly string[] | undefined,
): PullRoute<Context> {
  return async (request, caller) => {
    if (schemaVersions && !schemaVersions.includes(request.schemaVersion)) {
      return { error: 'VersionNotSupported', versionType: 'schema' };
    }
    return toAnswer(request, await pull(request, caller), (ops) => caller.annotate?.({ ops }));
  };
}

/** Creates the ways to pull from one database. State that outlives a pull only makes later pulls faster. */
export function createPulls<Context extends UserContext>(options: PullOptions<Context>): Pulls<Context> {
  const { db, semaphores, schemaCache, poller, consistencyChecker } = options;
  const limitedDatabase = throttleQueries(semaphores.reads, db);
  const reads = new SharedReads(limitedDatabase, poller);
  const cookies = new CookieCache();
  const sizes = new DeltaSizes(limitedDatabase);
  // Field by field, since every pull runs this, and V8 is slow to spread objects with many fields.
  const pullOf = (
    resolved: ResolvedViews,
    request: PullRequest,
    caller: Caller<Context>,
    format: PullParts['format'],
    requirementOf: RequirementOf | undefined,
  ): Pull =>
    new Pull({
      db,
      reads,
      cookies,
      sizes,
      semaphores,
      consistencyChecker,
      schema: resolved.schema,
      views: resolved.views,
      viewsDigest: resolved.viewsDigest,
      viewDigests: resolved.viewDigests,
      parameters: resolved.parameters,
      schemaHashes: resolved.schemaHashes,
      queryDigest: resolved.queryDigest,
      request,
      caller,
      format,
      requirementOf,
      viewDifferenceSince: (cookie) => schemaCache.diffSince(cookie, resolved, caller.context.userID),
      schemaChangesSince: (tables, schemaHashes) => schemaCache.schemaChangesSince(tables, schemaHashes),
      haveChanged: (tables) => schemaCache.haveChanged(tables),
    });
  return {
    pull(request, caller, requirementOf) {
      const { profileID, schemaVersion, refused } = request;
      return schemaCache.serve({ ctx: caller.context, profileID, schemaVersion, refused }, (resolved, last) =>
        pullOf(resolved, request, caller, 'ops', requirementOf).answer(last?.state),
      );
    },

    async read({ part, format, isFollowing: _, ...requestFields }, caller, requirementOf) {
      const { profileID, schemaVersion } = requestFields;
      const attempt = async (resolved: ResolvedViews, cookie: unknown, last?: OutdatedError) => {
        const request = { ...requestFields, clientGroupID: noGroup, cookie };
        const result = await pullOf(resolved, request, caller, format, requirementOf).answer(last?.state);
        if (result.kind === 'lost') throw new Error('A read has no client group that could be lost');
        return result;
      };
      return schemaCache.serve(
        { ctx: caller.context, profileID, schemaVersion },
        async (resolved, last) => {
          const result = await findingByIndex(part, resolved, (candidate) =>
            attempt(candidate, requestFields.cookie, last),
          );
          if (format === 'ops' || result.kind !== 'delta') return result;
          await result.more?.close();
          return findingByIndex(part, resolved, (candidate) => attempt(candidate, null));
        },
        part,
      );
    },
  };
}

/**
 * If Postgres refuses the text of a key, then either no row has that key, or the view itself fails. A search of all
 * rows by the key's text shows which.
 */
async function findingByIndex<T>(
  { key }: ViewPart,
  resolved: ResolvedViews,
  work: (resolved: ResolvedViews) => Promise<T>,
): Promise<T> {
  try {
    return await work(resolved);
  } catch (error) {
    if (!isOfValues(error) || key === undefined) throw error;
    const views = resolved.views.map((one) => ({ ...one, view: { ...one.view, whole: one.view.now } }));
    return work({ ...resolved, views });
  }
}
