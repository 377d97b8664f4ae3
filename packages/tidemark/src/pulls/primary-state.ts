/** The primary, as seen by a pull from a standby. */
import type { ChangeLogCache } from '../change-log/change-log-cache.js';
import type { UserContext } from '../context.js';
import type { CookieMeaning } from '../protocol/cookie.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { SchemaCache } from '../schema/schema-cache.js';
import type { ResetReason } from './plan.js';
import type { ReadRequirement } from './reads/read-requirement.js';
import type { PullSession } from './session.js';

/** Reasons that depend only on how much has changed. For others, the standby may have yet to replay what matters. */
const certain: ReadonlySet<ResetReason> = new Set(['size', 'horizon', 'truncate', 'inconsistent']);

/** Requires only what the cookie has seen. */
const none: ReadRequirement = { since: undefined, timeline: undefined, xids: [] };

/** The state of the primary after the request arrived, from which read requirements follow. */
export class PrimaryState<Context extends UserContext> {
  readonly #cache: ChangeLogCache | undefined;
  readonly #schemaCache: Pick<SchemaCache<Context>, 'resolve'>;

  /** @param cache the primary's change-log cache; undefined if the primary does not answer */
  constructor(cache: ChangeLogCache | undefined, schemaCache: Pick<SchemaCache<Context>, 'resolve'>) {
    this.#cache = cache;
    this.#schemaCache = schemaCache;
  }

  /**
   * Returns what a standby must show for a session. If the primary does not answer, only what the cookie has seen.
   * @param base the snapshot of the cookie, if there is a readable one
   */
  requirementOf({ freshness, request }: PullSession<Context>, base: Snapshot | undefined): ReadRequirement {
    const cache = this.#cache;
    if (!cache || freshness === 'none') return none;
    const timeline = cache.state.history.current;
    if (freshness === 'all commits') return { since: upTo(cache, cache.state.snapshot), timeline, xids: [] };
    const { since, xids } = cache.mutationsOf(request.clientGroupID, base);
    return { since: since && upTo(cache, since), timeline, xids };
  }

  /**
   * True if a standby is allowed to reset a client.
   * @param viewsDigest identifies the session's views and their tables on the standby
   */
  async mayReset(session: PullSession<Context>, reason: ResetReason, viewsDigest: string): Promise<boolean> {
    return certain.has(reason) || (reason === 'views' && (await this.confirms(session, viewsDigest)));
  }

  /** True if the session's views and their tables have this digest on the primary, too. */
  async confirms({ input, part }: PullSession<Context>, viewsDigest: string): Promise<boolean> {
    return (await this.#schemaCache.resolve(input, part)).viewsDigest === viewsDigest;
  }
}

/** @param snapshot a current or previous snapshot of the cache */
function upTo({ state }: ChangeLogCache, snapshot: Snapshot): CookieMeaning {
  return { parsedSnapshot: snapshot, parsedNext: state.nextXid };
}
