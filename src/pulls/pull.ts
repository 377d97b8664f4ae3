import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import type { JSONAnswer } from '../http/answer.js';
import type { Caller } from '../http/identify.js';
import { type Bound, type CurrentInstallation, OutdatedError } from '../installation/current-installation.js';
import { describeError } from '../log.js';
import type { Audit } from '../protocol/audit.js';
import { digest, type OpenedCookie, openCookie } from '../protocol/cookie.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { PullRequest } from '../protocol/pull.js';
import { fullPatch } from '../store/full-patch.js';
import { type Header, headerQuery, type Member, type PatchHeader } from '../store/header.js';
import { auditedFullPatch } from '../store/patch-sql.js';
import { type Auditor, checkedFor } from './auditor.js';
import { DeltaSizes } from './delta-size.js';
import { type LongReads, longReadsOf } from './long-reads.js';
import { openFullPatch, openPatch } from './patch-stream.js';
import { covers, isRenewalDue, type Plan, planPull, type ResetReason } from './plan.js';
import { answerOf, openingOf, unchangedAnswer } from './pull-answer.js';
import { type Patch, type Reader, SharedReads } from './shared-reads.js';

export interface PullOptions<Context extends UserContext> {
  readonly db: Database;
  readonly installation: CurrentInstallation<Context>;
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

/** Creates a pull route. It keeps nothing once a pull is answered. */
export function createPull<Context extends UserContext>(options: PullOptions<Context>): PullRoute<Context> {
  const { db, installation, auditor, schemaVersions } = options;
  const reads = new SharedReads(db);
  const sizes = new DeltaSizes(db);
  const longReads = longReadsOf(db);
  return async (request, caller) => {
    const { profileID, schemaVersion } = request;
    if (schemaVersions && !schemaVersions.includes(schemaVersion)) {
      return { error: 'VersionNotSupported', versionType: 'schema' };
    }
    return installation.serve({ ctx: caller.context, profileID, schemaVersion }, (bound, last) =>
      new Pull({ db, reads, sizes, longReads, auditor, ...bound, request, caller }).answer(last?.header),
    );
  };
}

interface PullParts extends Bound {
  readonly db: Database;
  readonly reads: SharedReads;
  readonly sizes: DeltaSizes;
  readonly longReads: LongReads;
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

  /** @param known what a probe would return, if another statement has returned it already */
  async answer(known?: Header): Promise<ProtocolError | JSONAnswer> {
    const { request, reads, auditor, installation } = this.#parts;
    const cookie = openCookie(request.cookie, installation.secret);
    if (!cookie) return request.cookie === null ? this.#full() : this.#reset('cookie');
    const audit = cookie.audit === null ? null : auditor.auditOf(cookie.audit);
    const reader = this.#reader(cookie, audit);
    const header = known ?? (await reads.probe(reader));
    let plan = this.#plan(cookie, header);
    let changed = header.changed;
    while (plan.kind === 'delta' && plan.tables.length > 0) {
      const made = await this.#delta(cookie, audit, reader, changed);
      if ('answer' in made) return made.answer;
      ({ plan, changed } = made);
    }
    if (plan.kind === 'unchanged' || plan.kind === 'behind') return unchangedAnswer(request);
    if (plan.kind === 'delta') return answerOf(this.#opening(header, audit), []);
    if (plan.kind === 'lost') return { error: 'ClientStateNotFound' };
    return this.#reset(plan.reason, cookie);
  }

  #reset(reason: ResetReason, cookie?: OpenedCookie): Promise<JSONAnswer> {
    this.#parts.caller.log.info({ reason }, 'The client is reset');
    return this.#full(cookie);
  }

  /** Returns another plan if more had changed at the statement's snapshot, or if the delta failed or was wrong. */
  async #delta(
    cookie: OpenedCookie,
    audit: Audit | null,
    reader: Reader,
    changed: Header['changed'],
  ): Promise<{ answer: JSONAnswer } | { plan: Plan; changed: Header['changed'] }> {
    const { reads, sizes, longReads, auditor, installation, views, request, caller } = this.#parts;
    let patch: Patch | undefined;
    try {
      const size = await sizes.of(reader, changed);
      if (size === 'too long') return { plan: { kind: 'reset', reason: 'size' }, changed };
      const read = () => reads.delta(reader, changed);
      patch = await (size === 'short' ? read() : longReads.run(read, caller.signal?.()));
      const { header, tables, checksums, held, more } = patch;
      if (header.torn) throw new OutdatedError(header);
      const actual = this.#plan(cookie, header);
      if (!covers({ kind: 'delta', tables }, actual)) {
        await more?.close();
        return { plan: actual, changed: header.changed };
      }
      const audited = audit && checksums ? auditor.next(audit, checksums, header.snapshot) : { audit: null };
      if ('differences' in audited) {
        await more?.close();
        const { snapshot } = header;
        const { since } = audit!;
        await auditor.report({ ...audited, since, snapshot, installation, views, log: caller.log });
        return { plan: { kind: 'reset', reason: 'audit' }, changed };
      }
      const { audit: next } = audited;
      const renew = held.length > 0 || isRenewalDue(cookie, header) || this.#isNewClient(header) || next?.deltas === 0;
      return { answer: renew ? answerOf(this.#opening(header, next), held, more) : unchangedAnswer(request) };
    } catch (error) {
      await patch?.more?.close();
      if (error instanceof Problem || isTransient(error)) throw error;
      caller.log.error({ error: describeError(error) }, 'A delta failed');
      return { plan: { kind: 'reset', reason: 'failure' }, changed };
    }
  }

  /** @param cookie what the client is reset from, if readable: a standby that is behind it must not answer */
  async #full(cookie?: OpenedCookie): Promise<JSONAnswer> {
    const { db, longReads, auditor, installation, views, request, caller } = this.#parts;
    const header = headerQuery({ base: undefined, tables: installation.tables, members: [this.#member(undefined)] });
    const isSampled = auditor.samples(request.clientGroupID, installation.secret);
    const read = async () => ({
      more: isSampled
        ? await openPatch(db, auditedFullPatch(header, views), true)
        : await openFullPatch(db, fullPatch(header, views)),
    });
    const { more: patch } = await longReads.run(read, caller.signal?.());
    try {
      const [answered] = patch.headers as [PatchHeader];
      if (answered.torn) throw new OutdatedError();
      const plan = this.#plan(cookie, answered);
      const first = plan.kind === 'behind' ? undefined : await patch.ops.next();
      if (!first || first.done) await patch.close();
      if (!first) return unchangedAnswer(request);
      const whole = patch.checksums?.whole;
      const opening = this.#opening(answered, whole ? { deltas: 0, since: answered.snapshot, checksums: whole } : null);
      const clear = request.cookie === null ? '' : '{"op":"clear"}';
      if (first.done) return answerOf(`${opening}${clear}`, []);
      return answerOf(`${opening}${clear}${clear && ','}`, [first.value], patch);
    } catch (error) {
      await patch.close();
      throw error;
    }
  }

  /** The key contains the user's ID as it is: to keep users' rows apart, a digest is not relied on. */
  #reader(cookie: OpenedCookie, audit: Audit | null): Reader {
    const { installation, views, viewsDigest, caller } = this.#parts;
    const { snapshot, epoch, tick, parsedSnapshot: base } = cookie;
    const checked = audit ? checkedFor(audit) : 'no';
    const parts = [caller.context.userID, viewsDigest, installation.cluster, epoch, snapshot, tick, checked];
    return { key: JSON.stringify(parts), installation, views, base, tick, checked, member: this.#member(cookie) };
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
