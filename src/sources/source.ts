import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { type Gates, gatesFor } from '../gates.js';
import { CurrentInstallation } from '../installation/current-installation.js';
import type { Logger } from '../log.js';
import { Tail } from '../pokes/tail.js';
import { Auditor, type AuditState } from '../pulls/auditor.js';
import { createPulls, type Pulls } from '../pulls/pull-route.js';
import { ClientViews } from '../view/client-views.js';
import type { Views } from '../view/define.js';
import { Looks } from '../window/looks.js';

/** What is the same for all databases that a server reads from. */
export interface SourceOptions<Context extends UserContext> {
  readonly views: Views<Context>;
  /** The fraction of client groups that are audited. */
  readonly audit: number;
  readonly log: Logger;
  /** How many transactions of the change log are remembered. */
  readonly window: number;
  /** See `TailOptions`. */
  readonly intervalMs: () => number;
  readonly onDisconnect: (userIDs: ReadonlySet<string>) => void;
  readonly onPoke: () => void;
  readonly onTold: (ms: number) => void;
}

/** A database from which pulls are answered, and all that follows it. */
export interface Source<Context extends UserContext> {
  readonly db: Database;
  readonly gates: Gates;
  readonly installation: CurrentInstallation<Context>;
  readonly pulls: Pulls<Context>;
  readonly tail: Tail<Context>;
  audits(): AuditState;
}

/**
 * Prepares to read from a database. Asks it nothing yet.
 * @param notify whether the tail looks whenever the database notifies; a standby cannot
 */
export function createSource<Context extends UserContext>(
  db: Database,
  notify: boolean,
  { views, audit, log, window, intervalMs, onDisconnect, onPoke, onTold }: SourceOptions<Context>,
): Source<Context> {
  const installation = new CurrentInstallation(db, new ClientViews(db, views));
  const gates = gatesFor(db.connections);
  const looks = new Looks(db, installation, window);
  const tail = new Tail({ db, installation, looks, log, intervalMs, notify, onDisconnect, onPoke, onTold });
  const auditor = new Auditor(db, audit);
  const pulls = createPulls({ db, gates, installation, looks: window > 0 ? looks : undefined, auditor });
  return { db, gates, installation, pulls, tail, audits: () => auditor.state() };
}
