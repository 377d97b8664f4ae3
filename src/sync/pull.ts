import type { Database } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import { describeError } from '../log.js';
import { digest, type OpenedCookie, openCookie } from '../protocol/cookie.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { PullRequest } from '../protocol/pull.js';
import type { UserContext } from '../registry/mutators.js';
import { type Header, headerQuery, type Member } from '../store/header.js';
import { fullPatch } from '../store/patch-sql.js';
import type { Caller } from './caller.js';
import { type Bound, type CurrentInstallation, OutdatedError } from './current-installation.js';
import { openPatch } from './patch-stream.js';
import { covers, isRenewalDue, type Plan, planPull, type ResetReason } from './plan.js';
import { bodyOf, openingOf, type PullBody, unchangedBody } from './pull-body.js';
import { type Patch, type Reader, SharedReads } from './shared-reads.js';
import { toUnavailable } from './unavailable.js';

export interface PullOptions<Context extends UserContext> {
  readonly database: Database;
  readonly installation: CurrentInstallation<Context>;
  /** The schema versions that the application serves; all when undefined. */
  readonly schemaVersions: readonly string[] | undefined;
}

/** Answers pulls. Keeps nothing of them once they are answered. */
export class Puller<Context extends UserContext> {
  readonly #options: PullOptions<Context>;
  readonly #reads: SharedReads;

  constructor(options: PullOptions<Context>) {
    this.#options = options;
    this.#reads = new SharedReads(options.database);
  }

  /**
   * The changes since the request's cookie, as of one snapshot of the database.
   * @throws Problem when the client group belongs to another user, a client's record is lost, or the database is out of reach.
   */
  async pull(request: PullRequest, caller: Caller<Context>): Promise<ProtocolError | PullBody> {
    const { schemaVersions } = this.#options;
    if (schemaVersions && !schemaVersions.includes(request.schemaVersion)) {
      return { error: 'VersionNotSupported', versionType: 'schema' };
    }
    try {
      const { context: ctx } = caller;
      const { profileID, schemaVersion } = request;
      const { database: db, installation } = this.#options;
      return await installation.serve({ ctx, profileID, schemaVersion }, (bound, last) =>
        new Pull({ db, reads: this.#reads, ...bound, request, caller }).answer(last?.header),
      );
    } catch (error) {
      throw toUnavailable(error);
    }
  }
}

interface PullParts extends Bound {
  readonly db: Database;
  readonly reads: SharedReads;
  readonly request: PullRequest;
  readonly caller: Caller<UserContext>;
}

/** One pull on its way. */
class Pull {
  readonly #parts: PullParts;
  readonly #viewsDigest: string;

  constructor(parts: PullParts) {
    const { installation, views, caller } = parts;
    this.#parts = parts;
    this.#viewsDigest = digest([
      installation.shape,
      caller.context.userID,
      ...views.flatMap(({ view, text, literals }) => [view.name, view.prefix, ...view.keyColumns, text, ...literals]),
    ]);
  }

  /** @param known what a probe would say, where another statement has said it already */
  async answer(known?: Header): Promise<ProtocolError | PullBody> {
    const { request, reads, installation } = this.#parts;
    const cookie = openCookie(request.cookie, installation.secret);
    if (!cookie) return request.cookie === null ? this.#full() : this.#reset('cookie');
    const reader = this.#reader(cookie);
    const header = known ?? (await reads.probe(reader));
    let plan = this.#plan(cookie, header);
    let changed = header.changed;
    while (plan.kind === 'delta' && plan.tables.length > 0) {
      const answer = await this.#delta(cookie, reader, changed);
      if ('body' in answer) return answer.body;
      ({ plan, changed } = answer);
    }
    if (plan.kind === 'unchanged' || plan.kind === 'behind') return unchangedBody(request);
    if (plan.kind === 'delta') return bodyOf(this.#opening(header), []);
    if (plan.kind === 'lost') return { error: 'ClientStateNotFound' };
    return this.#reset(plan.reason, cookie);
  }

  #reset(reason: ResetReason, cookie?: OpenedCookie): Promise<PullBody> {
    this.#parts.caller.log.info({ reason }, 'The client is reset');
    return this.#full(cookie);
  }

  /** Another plan to try when, at the statement's snapshot, more had changed than it was made for. */
  async #delta(
    cookie: OpenedCookie,
    reader: Reader,
    changed: Header['changed'],
  ): Promise<{ body: PullBody } | { plan: Plan; changed: Header['changed'] }> {
    let patch: Patch | undefined;
    try {
      patch = await this.#parts.reads.delta(reader, changed);
      const { header, tables, held, rest } = patch;
      if (header.torn) throw new OutdatedError(header);
      const actual = this.#plan(cookie, header);
      if (!covers({ kind: 'delta', tables }, actual)) {
        await rest?.close();
        return { plan: actual, changed: header.changed };
      }
      const renew = held.length > 0 || isRenewalDue(cookie, header) || this.#isNewClient(header);
      return { body: renew ? bodyOf(this.#opening(header), held, rest) : unchangedBody(this.#parts.request) };
    } catch (error) {
      await patch?.rest?.close();
      if (error instanceof Problem || isTransient(error)) throw error;
      this.#parts.caller.log.error({ error: describeError(error) }, 'A delta failed');
      return { plan: { kind: 'reset', reason: 'failure' }, changed };
    }
  }

  /** @param cookie what the client is reset from, where that can be read: a standby that is behind it must not answer */
  async #full(cookie?: OpenedCookie): Promise<PullBody> {
    const { db, installation, views, request } = this.#parts;
    const header = headerQuery({ base: undefined, tables: installation.tables, members: [this.#member(undefined)] });
    const patch = await openPatch(db, fullPatch(header, views));
    const [answered] = patch.headers as [Header];
    let plan: Plan;
    try {
      if (answered.torn) throw new OutdatedError();
      plan = this.#plan(cookie, answered);
    } catch (error) {
      await patch.close();
      throw error;
    }
    if (plan.kind === 'behind') {
      await patch.close();
      return unchangedBody(request);
    }
    const clear = request.cookie === null ? '' : '{"op":"clear"}';
    const first = await patch.ops.next();
    if (first.done) return bodyOf(`${this.#opening(answered)}${clear}`, []);
    return bodyOf(`${this.#opening(answered)}${clear}${clear && ','}`, [first.value], patch);
  }

  /** The key holds the user's ID as it is: no digest stands between one user's rows and another's. */
  #reader(cookie: OpenedCookie): Reader {
    const { installation, views, caller } = this.#parts;
    const { snapshot, epoch, tick, parsedSnapshot: base } = cookie;
    const parts = [caller.context.userID, this.#viewsDigest, installation.cluster, epoch, snapshot, tick];
    return { key: JSON.stringify(parts), installation, views, base, tick, member: this.#member(cookie) };
  }

  #member(cookie: OpenedCookie | undefined): Member {
    const { clientGroupID, client } = this.#parts.request;
    return { clientGroupID, sameGroup: cookie?.clientGroupID === clientGroupID, clientID: client?.id };
  }

  /** @throws Problem when the client group belongs to another user, or a client's record is lost. */
  #plan(cookie: OpenedCookie | undefined, header: Header): Plan {
    const { caller, request } = this.#parts;
    const { clientGroupID, client } = request;
    if (header.owner !== null && header.owner !== caller.context.userID) {
      throw new Problem('forbidden', 'The client group belongs to another user.');
    }
    const present = { header, clientGroupID, epoch: this.#epoch(header), views: this.#viewsDigest };
    const plan: Plan = cookie ? planPull(cookie, present) : { kind: 'reset', reason: 'cookie' };
    if (plan.kind === 'behind') return plan;
    if (client && !header.clientKnown && client.lastMutationID !== 0) {
      throw header.recovery
        ? new Problem('unavailable', 'This standby has no record of the client yet; send the request again later')
        : new Problem('client-record-lost', 'The client has applied mutations, but the server has no record of it.');
    }
    return plan.kind === 'unchanged' && this.#isNewClient(header) ? { kind: 'delta', tables: [] } : plan;
  }

  /** A client that the request names and the server does not know yet is told its mutation ID 0. */
  #isNewClient(header: Header): boolean {
    return this.#parts.request.client !== undefined && !header.clientKnown;
  }

  #epoch({ installID, database }: Header): string {
    return digest([installID, this.#parts.installation.cluster, database]);
  }

  #opening(header: Header): string {
    const { request, installation } = this.#parts;
    const { secret } = installation;
    return openingOf(request, header, { epoch: this.#epoch(header), views: this.#viewsDigest, secret });
  }
}
