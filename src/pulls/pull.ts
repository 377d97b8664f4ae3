import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import type { JSONAnswer } from '../http/answer.js';
import type { Caller } from '../http/identify.js';
import { type Bound, type CurrentInstallation, OutdatedError } from '../installation/current-installation.js';
import { describeError } from '../log.js';
import type { Audit } from '../protocol/audit.js';
import { digest, type OpenedCookie } from '../protocol/cookie.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { PullRequest } from '../protocol/pull.js';
import { type Header, type Member, memberHeader } from '../store/header.js';
import { literalReport } from '../store/look.js';
import { auditedFullPatch, fullPatch } from '../store/patch-sql.js';
import type { Looks } from '../window/looks.js';
import { type Auditor, checkedFor } from './auditor.js';
import { type KnownCookie, KnownCookies } from './known-cookies.js';
import { openPatch } from './patch-stream.js';
import { covers, isRenewalDue, type Plan, planPull, type ResetReason } from './plan.js';
import { answerOf, openingOf, unchangedAnswer } from './pull-answer.js';
import type { Patch, Reader } from './reader.js';
import { SharedReads } from './shared-reads.js';

export interface PullOptions<Context extends UserContext> {
  readonly db: Database;
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
  const { db, installation, looks, auditor, schemaVersions } = options;
  const reads = new SharedReads(db, looks);
  const cookies = new KnownCookies();
  return async (request, caller) => {
    const { profileID, schemaVersion } = request;
    if (schemaVersions && !schemaVersions.includes(schemaVersion)) {
      return { error: 'VersionNotSupported', versionType: 'schema' };
    }
    return installation.serve({ ctx: caller.context, profileID, schemaVersion }, (bound, last) =>
      new Pull({ db, reads, cookies, auditor, ...bound, request, caller }).answer(last?.header),
    );
  };
}

interface PullParts extends Bound {
  readonly db: Database;
  readonly reads: SharedReads;
  readonly cookies: KnownCookies;
  readonly auditor: Auditor;
  readonly request: PullRequest;
  readonly caller: Caller<UserContext>;
}

/** A single pull, while it is answered. */
class Pull {
  readonly #parts: PullParts;

  constructor(parts: PullParts) {
    this.#parts = parts;
  }

  /** @param read the header, if another statement has returned it already */
  async answer(read?: Header): Promise<ProtocolError | JSONAnswer> {
    const { request, reads, cookies, auditor, installation } = this.#parts;
    const known = cookies.open(request.cookie, installation.secret);
    if (!known) return request.cookie === null ? this.#full() : this.#reset('cookie');
    const { cookie } = known;
    const audit = cookie.audit === null ? null : auditor.auditOf(cookie.audit);
    const reader = this.#reader(known, audit);
    let header = read ?? (await reads.header(reader));
    let plan = this.#plan(cookie, header);
    while (plan.kind === 'delta' && plan.tables.length > 0) {
      const made = await this.#delta(cookie, audit, reader, header);
      if ('answer' in made) return made.answer;
      ({ plan, header } = made);
    }
    if (plan.kind === 'unchanged') return this.#unchanged(reader, header);
    if (plan.kind === 'behind') return unchangedAnswer(request);
    if (plan.kind === 'delta') return answerOf(this.#opening(header, audit), []);
    if (plan.kind === 'lost') return { error: 'ClientStateNotFound' };
    return this.#reset(plan.reason, cookie);
  }

  /** The client holds what its views show at the header's snapshot. */
  #unchanged(reader: Reader, { snapshot }: Header): JSONAnswer {
    this.#parts.reads.remainsQuiet(reader, snapshot);
    return { kind: 'json', text: reader.known.unchanged };
  }

  #reset(reason: ResetReason, cookie?: OpenedCookie): Promise<JSONAnswer> {
    this.#parts.caller.log.info({ reason }, 'The client is reset');
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
  ): Promise<{ answer: JSONAnswer } | { plan: Plan; header: Header }> {
    const { reads, auditor, installation, views, caller } = this.#parts;
    let patch: Patch | undefined;
    try {
      patch = await reads.delta(reader, asked.changed);
      const { header, tables, checksums, held, more } = patch;
      if (header.torn) throw new OutdatedError(header);
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
      const renew = held.length > 0 || isRenewalDue(cookie, header) || this.#isNewClient(header) || next?.deltas === 0;
      return { answer: renew ? answerOf(this.#opening(header, next), held, more) : this.#unchanged(reader, header) };
    } catch (error) {
      await patch?.more?.close();
      if (error instanceof Problem || isTransient(error)) throw error;
      caller.log.error({ error: describeError(error) }, 'A delta failed');
      return { plan: { kind: 'reset', reason: 'failure' }, header: asked };
    }
  }

  /** @param cookie what the client is reset from, if readable: a standby that is behind it must not answer */
  async #full(cookie?: OpenedCookie): Promise<JSONAnswer> {
    const { db, auditor, installation, views, request } = this.#parts;
    const member = this.#member(undefined);
    const tables = installation.tables.map(({ id }) => id);
    const report = literalReport({ base: undefined, tables, groupIDs: [member.clientGroupID] }, installation.tables);
    const isSampled = auditor.samples(request.clientGroupID, installation.secret);
    const patch = await openPatch(db, (isSampled ? auditedFullPatch : fullPatch)(report, views), isSampled);
    const { header, groups, torn } = patch.report;
    const answered = { ...header, ...memberHeader(groups.get(member.clientGroupID)!, member, undefined) };
    let plan: Plan;
    try {
      if (torn) throw new OutdatedError();
      plan = this.#plan(cookie, answered);
    } catch (error) {
      await patch.close();
      throw error;
    }
    if (plan.kind === 'behind') {
      await patch.close();
      return unchangedAnswer(request);
    }
    const whole = patch.checksums?.whole;
    const opening = this.#opening(answered, whole ? { deltas: 0, since: answered.snapshot, checksums: whole } : null);
    const clear = request.cookie === null ? '' : '{"op":"clear"}';
    const first = await patch.ops.next();
    if (first.done) return answerOf(`${opening}${clear}`, []);
    return answerOf(`${opening}${clear}${clear && ','}`, [first.value], patch);
  }

  /** The key contains the user's ID as it is: to keep users' rows apart, a digest is not relied on. */
  #reader(known: KnownCookie, audit: Audit | null): Reader {
    const { installation, views, viewsDigest, formDigest, caller } = this.#parts;
    const { snapshot, epoch, tick, parsedSnapshot: base } = known.cookie;
    const checked = audit ? checkedFor(audit) : 'no';
    const { cluster } = installation;
    return {
      key: JSON.stringify([caller.context.userID, viewsDigest, cluster, epoch, snapshot, tick, checked]),
      form: JSON.stringify([formDigest, cluster]),
      installation,
      views,
      known,
      base,
      checked,
      member: this.#member(known.cookie),
    };
  }

  #member(cookie: OpenedCookie | undefined): Member {
    const { clientGroupID, client } = this.#parts.request;
    return { clientGroupID, sameGroup: cookie?.clientGroupID === clientGroupID, clientID: client?.id };
  }

  /** @throws Problem if the client group belongs to another user, or a client's record is lost. */
  #plan(cookie: OpenedCookie | undefined, header: Header): Plan {
    const { caller, request } = this.#parts;
    const { clientGroupID, client } = request;
    if (header.owner !== null && header.owner !== caller.context.userID) {
      throw new Problem('forbidden', 'The client group belongs to another user.');
    }
    const present = { header, clientGroupID, epoch: this.#epoch(header), views: this.#parts.viewsDigest };
    const plan: Plan = cookie ? planPull(cookie, present) : { kind: 'reset', reason: 'cookie' };
    if (plan.kind === 'behind') return plan;
    if (client && !header.clientKnown && client.lastMutationID !== 0) {
      throw header.recovery
        ? new Problem('unavailable', 'This standby has no record of the client yet; try again later')
        : new Problem('client-record-lost', 'The client has applied mutations, but the server has no record of it.');
    }
    return plan.kind === 'unchanged' && this.#isNewClient(header) ? { kind: 'delta', tables: [] } : plan;
  }

  /** Whether the request names a client that the server does not know yet; see `openingOf` for what it is told. */
  #isNewClient(header: Header): boolean {
    return this.#parts.request.client !== undefined && !header.clientKnown;
  }

  #epoch({ installID, database }: Header): string {
    return digest([installID, this.#parts.installation.cluster, database]);
  }

  #opening(header: Header, audit: Audit | null): string {
    const { request, installation } = this.#parts;
    const { secret } = installation;
    return openingOf(request, header, { epoch: this.#epoch(header), views: this.#parts.viewsDigest, audit, secret });
  }
}
