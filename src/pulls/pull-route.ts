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
  /** The schema versions that the application serves; all if undefined. */
  readonly schemaVersions: readonly string[] | undefined;
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
}

/**
 * Pulls a part of a client view, without a client group. `lost` is never the outcome. With `rows`, `delta` is not, and a
 * cookie that shows as much as a new one is kept. What is pulled must be read to its end, or closed.
 * @throws as a `PullRoute`
 */
export type ReadRoute<Context extends UserContext> = (
  request: ReadRequest,
  caller: Caller<Context>,
) => Promise<Exclude<Pulled, { kind: 'lost' }>>;

/** The ways to pull. */
export interface Pulls<Context extends UserContext> {
  readonly pull: PullRoute<Context>;
  readonly read: ReadRoute<Context>;
}

/** Nothing but speed depends on what it keeps once a pull is answered. */
export function createPulls<Context extends UserContext>(options: PullOptions<Context>): Pulls<Context> {
  const { db, gates, installation, looks, auditor, schemaVersions } = options;
  const gated = behind(gates.reads, db);
  const reads = new SharedReads(gated, looks);
  const cookies = new KnownCookies();
  const sizes = new DeltaSizes(gated);
  // Field by field, since this is on the way of each pull, and V8 does not spread objects of many fields fast.
  const pullOf = (bound: Bound, request: PullRequest, caller: Caller<Context>, form: PullParts['form']) =>
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
      formDigest: bound.formDigest,
      request,
      caller,
      form,
    });
  return {
    async pull(request, caller) {
      const { profileID, schemaVersion, refused } = request;
      if (schemaVersions && !schemaVersions.includes(schemaVersion)) {
        return { error: 'VersionNotSupported', versionType: 'schema' };
      }
      const pulled = await installation.serve(
        { ctx: caller.context, profileID, schemaVersion, refused },
        (bound, last) => pullOf(bound, request, caller, 'ops').answer(last?.header),
      );
      return toAnswer(request, pulled, (ops) => caller.tell?.({ ops }));
    },

    async read({ part, form, ...asked }, caller) {
      const { profileID, schemaVersion } = asked;
      const attempt = async (bound: Bound, cookie: unknown, last?: OutdatedError) => {
        const request = { ...asked, clientGroupID: noGroup, cookie };
        const pulled = await pullOf(bound, request, caller, form).answer(last?.header);
        if (pulled.kind === 'lost') throw new Error('A read has no client group that could be lost');
        return pulled;
      };
      return installation.serve(
        { ctx: caller.context, profileID, schemaVersion },
        async (bound, last) => {
          const pulled = await findingByIndex(bound, (found) => attempt(found, asked.cookie, last));
          if (form === 'ops' || pulled.kind !== 'delta') return pulled;
          await pulled.more?.close();
          return findingByIndex(bound, (found) => attempt(found, null));
        },
        part,
      );
    },
  };
}

/** If Postgres refuses the text of a key, no row has that key; or the views themselves fail. */
async function findingByIndex<T>(bound: Bound, work: (bound: Bound) => Promise<T>): Promise<T> {
  try {
    return await work(bound);
  } catch (error) {
    if (!isOfValues(error) || bound.views.every(({ condition }) => condition === undefined)) throw error;
    return work({ ...bound, views: bound.views.map((view) => ({ ...view, condition: undefined })) });
  }
}
