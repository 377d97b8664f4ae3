import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { isOfLayouts, isOfValue, isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import type { Gates } from '../gates.js';
import type { Caller } from '../http/identify.js';
import type { Told } from '../http/route.js';
import { type Bound, OutdatedError } from '../installation/current-installation.js';
import type { Installation } from '../installation/installation.js';
import { describeError } from '../log.js';
import type { Audit } from '../protocol/audit.js';
import type { OpenedCookie } from '../protocol/cookie.js';
import { noGroup, type PullRequest } from '../protocol/pull.js';
import { type Header, headerOf, type Member } from '../store/header.js';
import { literalReport } from '../store/look.js';
import { fullPatch } from '../store/patches/full-patch.js';
import { auditedFullPatch } from '../store/patches/patch-sql.js';
import type { KnownCookies } from '../window/known-cookies.js';
import { type Auditor, checkedFor } from './auditor.js';
import type { DeltaSizes } from './delta-size.js';
import { type Demand, type Demanding, mayReset, meets } from './demand.js';
import { identityOf } from './identity.js';
import { openInPlace } from './long-reads.js';
import { openFullPatch, openPatch } from './patch-stream.js';
import { changedTables, covers, isRenewalDue, type Plan, planPull, type ResetReason } from './plan.js';
import { cookieFields, lastMutationIDChanges, type Patched, type Pulled } from './pulled.js';
import { type Patch, Reader } from './reader.js';
import type { SharedReads } from './shared-reads.js';
import { type Compared, findSince, nothingSince } from './since.js';

/** What a pull is answered from. */
export interface PullParts extends Bound, Pick<Compared, 'changedSince' | 'alteredSince'> {
  readonly db: Database;
  readonly reads: SharedReads;
  readonly cookies: KnownCookies;
  readonly sizes: DeltaSizes;
  readonly gates: Gates;
  readonly auditor: Auditor;
  readonly request: PullRequest;
  readonly caller: Caller<UserContext>;
  /** `rows`: all data comes as rows, in the order of their keys; and a cookie is kept until there is something new. */
  readonly form: 'ops' | 'rows';
  /** What a standby must show, given what the cookie has seen; undefined if the database is the primary. */
  readonly demand: Demanding | undefined;
  /** Whether tables are other ones by now. */
  readonly haveChanged: (tables: Installation['tables']) => Promise<boolean>;
}

/** A single pull, while it is answered. */
export class Pull {
  readonly #parts: PullParts;
  #demand: Demand | undefined;
  #since = nothingSince;

  constructor(parts: PullParts) {
    this.#parts = parts;
  }

  /** @param read the header, if another statement has returned it already */
  async answer(read?: Header): Promise<Pulled> {
    const { request, caller, reads, cookies, auditor, installation } = this.#parts;
    const known = cookies.open(request.cookie, installation.secrets);
    this.#demand = this.#parts.demand?.(known?.cookie.parsedSnapshot);
    if (!known) return request.cookie === null ? this.#full() : this.#reset('cookie');
    const { cookie } = known;
    this.#since = await findSince(cookie, this.#parts, caller.log);
    const { changed, altered } = this.#since;
    if (changed && this.#demand && !(await mayReset('views', this.#parts.viewsDigest, this.#demand))) {
      return this.#behind(true);
    }
    const audit = cookie.audit === null ? null : auditor.auditOf(cookie.audit, changed?.places);
    const checked = audit ? checkedFor(audit) : 'no';
    const reader = new Reader(this.#parts, caller, known, checked, this.#member(cookie), changed, altered);
    // If there is something to send, the delta's own statement says what else has changed.
    const news = read ? undefined : reads.news(reader);
    const isEnough = news !== undefined && this.#plan(cookie, news).kind === 'delta';
    // A statement that found the tables outdated may have begun before they were altered.
    let header = (altered.size > 0 ? undefined : read) ?? (isEnough ? news : await reads.header(reader));
    let plan = this.#plan(cookie, header);
    while (plan.kind === 'delta' && (plan.tables.length > 0 || changed)) {
      const made = await this.#delta(cookie, audit, reader, header);
      if ('pulled' in made) return made.pulled;
      ({ plan, header } = made);
    }
    if (plan.kind === 'reset') return this.#reset(plan.reason, cookie);
    if (plan.kind === 'behind') return this.#behind();
    if (plan.kind === 'lost') return plan;
    const isNew = plan.kind === 'delta' && this.#isRenewed(cookie, header, false);
    return isNew ? this.#patched('delta', header, audit, []) : this.#unchanged(reader, header);
  }

  /** Whether an answer has a new cookie. */
  #isRenewed(cookie: OpenedCookie, header: Header, hasOps: boolean): boolean {
    if (this.#since.changed) return true;
    if (hasOps || this.#parts.form === 'rows') return hasOps;
    return isRenewalDue(cookie, header) || this.#isNewClient(header) || this.#since.altered.size > 0;
  }

  /** The client holds what its views show at the header's snapshot. */
  #unchanged(reader: Reader, { snapshot }: Header): Pulled {
    this.#tell({ pull: 'unchanged' });
    this.#parts.reads.remainsQuiet(reader, snapshot);
    return { kind: 'unchanged', known: reader.known };
  }

  async #reset(reason: ResetReason, cookie?: OpenedCookie): Promise<Pulled> {
    const demand = this.#demand;
    // What is not known of an alteration may not have come to the standby yet.
    const isAltered = reason === 'views' && this.#since.altered.size > 0;
    if (demand && (isAltered || !(await mayReset(reason, this.#parts.viewsDigest, demand)))) return this.#behind(true);
    // Another server may have noticed before this one that a table was altered, and the cookie then says so.
    if (isAltered && (await this.#parts.haveChanged(this.#parts.installation.tables))) throw new OutdatedError();
    this.#parts.caller.log.info({ reason }, 'The client is reset');
    this.#tell({ reason });
    return this.#full(cookie);
  }

  /**
   * @param asked the header that says what has changed
   * @returns another plan if more had changed at the statement's snapshot, or if the delta failed or was wrong
   */
  async #delta(
    cookie: OpenedCookie,
    audit: Audit | null,
    reader: Reader,
    asked: Header,
  ): Promise<{ pulled: Pulled } | { plan: Plan; header: Header }> {
    const { reads, sizes, gates, auditor, installation, views, caller } = this.#parts;
    const changed = changedTables(asked, this.#since.altered);
    let patch: Patch | undefined;
    try {
      const size = await sizes.of(reader, changed);
      if (size === 'too long') return { plan: { kind: 'reset', reason: 'size' }, header: asked };
      // Of views that have changed, all rows are read.
      const isShort = size === 'short' && !this.#since.changed;
      patch = await reads.delta(reader, changed, isShort ? gates.reads : gates.longReads);
      const { header, torn, tables, checksums, held, more } = patch;
      if (torn) throw new OutdatedError(header);
      const actual = this.#plan(cookie, header);
      if (!covers({ kind: 'delta', tables }, actual)) {
        await more?.close();
        return { plan: actual, header };
      }
      const audited = audit && checksums ? auditor.next(audit, checksums, header.snapshot) : { audit: null };
      if ('differences' in audited) {
        await more?.close();
        const { snapshot } = header;
        const { since } = audit!;
        await auditor.report({ ...audited, since, snapshot, installation, views, log: caller.log });
        return { plan: { kind: 'reset', reason: 'audit' }, header };
      }
      const { audit: next } = audited;
      const isNew = this.#isRenewed(cookie, header, held.length > 0) || next?.deltas === 0;
      return {
        pulled: isNew
          ? this.#patched(this.#since.changed ? 'views' : 'delta', header, next, held, more)
          : this.#unchanged(reader, header),
      };
    } catch (error) {
      await patch?.more?.close();
      if (error instanceof Problem || isTransient(error)) throw error;
      if (isOfLayouts(error)) return { plan: { kind: 'reset', reason: 'views' }, header: asked };
      // It may have met a table that was altered a moment ago.
      if (await this.#parts.haveChanged(reader.installation.tables)) throw new OutdatedError();
      // A view that the client has and no longer sees is read, too, with values that its types may no longer take.
      if (this.#since.changed && isOfValue(error)) return { plan: { kind: 'reset', reason: 'views' }, header: asked };
      caller.log.error({ error: describeError(error) }, 'A delta failed');
      return { plan: { kind: 'reset', reason: 'failure' }, header: asked };
    }
  }

  /** @param cookie what the client is reset from, if readable: a standby that is behind it must not answer */
  async #full(cookie?: OpenedCookie): Promise<Pulled> {
    const { db, gates, auditor, installation, views, request, caller, form, reads } = this.#parts;
    if (this.#demand && !(await reads.meets(this.#demand))) return this.#behind();
    const member = this.#member(undefined);
    const report = literalReport(
      { base: undefined, tables: installation.tableIDs, groupIDs: [member.clientGroupID] },
      installation.tables,
    );
    const signal = caller.signal?.();
    const { clientGroupID } = request;
    const isSampled = clientGroupID !== noGroup && auditor.samples(clientGroupID, installation.secrets[0]);
    const patch = await openInPlace(gates.longReads, caller, () =>
      isSampled
        ? openPatch(db, auditedFullPatch(report, views), true, signal)
        : openFullPatch(db, fullPatch(report, views, form), signal),
    );
    try {
      if (patch.report.torn) throw new OutdatedError();
      const answered = headerOf(patch.report, member, undefined);
      const plan = this.#plan(cookie, answered);
      // Out of the window, a plan does not say what became of the client group.
      if (plan.kind === 'lost') {
        await patch.close();
        return plan;
      }
      const first = plan.kind === 'behind' ? undefined : await patch.ops.next();
      if (!first || first.done) await patch.close();
      if (!first) return this.#behind();
      const whole = patch.checksums?.whole;
      const audit = whole ? { deltas: 0, since: answered.snapshot, checksums: whole } : null;
      const kind = request.cookie === null ? 'first' : 'reset';
      return first.done
        ? this.#patched(kind, answered, audit, [])
        : this.#patched(kind, answered, audit, [first.value], patch);
    } catch (error) {
      await patch.close();
      throw error;
    }
  }

  /** A standby shows less than the client has seen, or than was demanded. */
  #behind(isUncertain = false): Pulled {
    this.#tell({ pull: 'behind' });
    return { kind: 'behind', isUncertain };
  }

  #tell(told: Told): void {
    this.#parts.caller.tell?.(told);
  }

  #member(cookie: OpenedCookie | undefined): Member {
    const { clientGroupID, client } = this.#parts.request;
    return { clientGroupID, sameGroup: cookie?.clientGroupID === clientGroupID, clientID: client?.id };
  }

  /** @throws Problem if the client group belongs to another user, or a client's record is lost. */
  #plan(cookie: OpenedCookie | undefined, header: Header): Plan {
    const { caller, request } = this.#parts;
    if (this.#demand && !meets(header, this.#demand)) return { kind: 'behind' };
    if (header.history.current === null) {
      // A standby has yet to replay what records the timeline. On a primary, the next reading of the installation does it.
      if (header.recovery) return { kind: 'behind' };
      throw new OutdatedError();
    }
    const { clientGroupID, client } = request;
    if (header.owner !== null && header.owner !== caller.context.userID) {
      throw new Problem('forbidden', 'The client group belongs to another user.');
    }
    const plan: Plan = cookie
      ? planPull(cookie, {
          header,
          clientGroupID,
          ...identityOf(this.#parts, header),
          altered: this.#since.altered,
          ...(this.#since.changed && { views: cookie.views }),
        })
      : { kind: 'reset', reason: 'cookie' };
    if (plan.kind === 'behind') return plan;
    if (client && !header.clientKnown && client.lastMutationID !== 0) {
      throw header.recovery
        ? new Problem('unavailable', 'This standby has no record of the client yet; try again later')
        : new Problem('client-record-lost', 'The client has applied mutations, but the server has no record of it.');
    }
    return plan.kind === 'unchanged' && (this.#since.changed || this.#isNewClient(header))
      ? { kind: 'delta', tables: [] }
      : plan;
  }

  /** Whether the request names a client that the server does not know yet; see `lastMutationIDChanges` for what it is told. */
  #isNewClient(header: Header): boolean {
    return this.#parts.request.client !== undefined && !header.clientKnown;
  }

  #patched(
    kind: Patched['kind'],
    header: Header,
    audit: Audit | null,
    held: Patched['held'],
    more?: Patched['more'],
  ): Patched {
    const { request, installation, cookies } = this.#parts;
    const { current, lsn } = header.history;
    // Where no timeline is known, `#plan` has ended the pull.
    const position = { timeline: current!, lsn };
    const fields = cookieFields(request, header, identityOf(this.#parts, header), audit, position);
    const meaning = { parsedSnapshot: header.snapshot, parsedNext: header.next, parsedPosition: position };
    const cookie = cookies.seal(fields, meaning, installation.secrets);
    this.#tell({ pull: kind });
    return { kind, cookie, lastMutationIDChanges: lastMutationIDChanges(request, header), held, more };
  }
}
