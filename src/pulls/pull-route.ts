import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { behind, type Gates } from '../gates.js';
import type { JSONAnswer } from '../http/answer.js';
import type { Caller } from '../http/identify.js';
import type { CurrentInstallation } from '../installation/current-installation.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { PullRequest } from '../protocol/pull.js';
import { KnownCookies } from '../window/known-cookies.js';
import type { Looks } from '../window/looks.js';
import type { Auditor } from './auditor.js';
import { DeltaSizes } from './delta-size.js';
import { Pull } from './pull.js';
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

/** Creates a pull route. Nothing but speed depends on what it keeps once a pull is answered. */
export function createPull<Context extends UserContext>(options: PullOptions<Context>): PullRoute<Context> {
  const { db, gates, installation, looks, auditor, schemaVersions } = options;
  const gated = behind(gates.reads, db);
  const reads = new SharedReads(gated, looks);
  const cookies = new KnownCookies();
  const sizes = new DeltaSizes(gated);
  return async (request, caller) => {
    const { profileID, schemaVersion, refused } = request;
    if (schemaVersions && !schemaVersions.includes(schemaVersion)) {
      return { error: 'VersionNotSupported', versionType: 'schema' };
    }
    return installation.serve({ ctx: caller.context, profileID, schemaVersion, refused }, (bound, last) =>
      new Pull({ db, reads, cookies, sizes, gates, auditor, ...bound, request, caller }).answer(last?.header),
    );
  };
}
