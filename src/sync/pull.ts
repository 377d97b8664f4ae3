import type { Database } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import { Problem, SetupError } from '../errors.js';
import { describeError } from '../log.js';
import { digest, nextOrder, type OpenedCookie, openCookie, orderOf, sealCookie } from '../protocol/cookie.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { PullRequest } from '../protocol/pull.js';
import { finishedTransactions, parseSnapshot } from '../protocol/snapshot.js';
import type { UserContext } from '../registry/mutators.js';
import { type Header, type HeaderInput, headerQuery, probe } from '../store/header.js';
import type { Installation } from '../store/installation.js';
import { deltaPatch, fullPatch } from '../store/patch-sql.js';
import type { BoundView } from '../view/client-views.js';
import type { Caller } from './caller.js';
import type { CurrentInstallation } from './current-installation.js';
import { openPatch, type PatchStream } from './patch-stream.js';
import { covers, isFruitless, type Plan, planPull, type ResetReason } from './plan.js';

/** The JSON text of an OK response, whole or as it is made. */
export type PullBody = string | AsyncIterable<Uint8Array>;

export interface PullOptions<Context extends UserContext> {
  readonly database: Database;
  readonly installation: CurrentInstallation<Context>;
  /** The schema versions that the application serves; all when undefined. */
  readonly schemaVersions: readonly string[] | undefined;
}

/** Answers pulls. Keeps nothing of them. */
export class Puller<Context extends UserContext> {
  readonly #options: PullOptions<Context>;

  constructor(options: PullOptions<Context>) {
    this.#options = options;
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
      const { installation, views } = await this.#options.installation.bind({ ctx, profileID, schemaVersion });
      return await new Pull(this.#options.database, installation, views, request, caller).answer();
    } catch (error) {
      if (error instanceof SetupError)
        throw unavailable('The server is not set up to answer; its log says why.', error);
      if (isTransient(error)) throw unavailable('The database cannot answer now. Try again.', error);
      throw error;
    }
  }
}

function unavailable(detail: string, cause: unknown): Problem {
  return new Problem('unavailable', detail, { cause, headers: { 'Retry-After': '1' } });
}

/** One pull on its way. */
class Pull {
  readonly #db: Database;
  readonly #installation: Installation;
  readonly #views: readonly BoundView[];
  readonly #request: PullRequest;
  readonly #caller: Caller<UserContext>;
  readonly #viewsDigest: string;

  constructor(
    db: Database,
    installation: Installation,
    views: readonly BoundView[],
    request: PullRequest,
    caller: Caller<UserContext>,
  ) {
    this.#db = db;
    this.#installation = installation;
    this.#views = views;
    this.#request = request;
    this.#caller = caller;
    this.#viewsDigest = digest([
      installation.shape,
      caller.context.userID,
      ...views.flatMap(({ view, text, literals }) => [view.name, view.prefix, ...view.keyColumns, text, ...literals]),
    ]);
  }

  async answer(): Promise<PullBody> {
    const cookie = openCookie(this.#request.cookie, this.#installation.secret);
    if (!cookie) return this.#request.cookie === null ? this.#full() : this.#reset('cookie');
    const [row] = await this.#db.query<{ line: string }>(probe(this.#headerInput(cookie)));
    const header = JSON.parse(row!.line) as Header;
    this.#check(header);
    let plan = this.#plan(cookie, header);
    while (plan.kind === 'delta' && plan.tables.length > 0) {
      const answer = await this.#delta(cookie, plan);
      if ('body' in answer) return answer.body;
      plan = answer.retry;
    }
    if (plan.kind === 'unchanged') return this.#unchanged();
    if (plan.kind === 'delta') return `${this.#opening(header)}]}`;
    return this.#reset(plan.reason);
  }

  #reset(reason: ResetReason): Promise<PullBody> {
    this.#caller.log.info({ reason }, 'The client is reset');
    return this.#full();
  }

  /** Another plan to try when, at the statement's snapshot, more had changed than it was made for. */
  async #delta(cookie: OpenedCookie, plan: Plan & { kind: 'delta' }): Promise<{ body: PullBody } | { retry: Plan }> {
    const tables = this.#installation.tables.filter((table) => plan.tables.includes(table.id));
    const header = headerQuery(this.#headerInput(cookie));
    let patch: PatchStream | undefined;
    try {
      patch = await openPatch(this.#db, deltaPatch(header, this.#views, tables, cookie.parsedSnapshot));
      const actual = this.#plan(cookie, patch.header);
      if (patch.header.torn || !covers(plan, actual)) {
        await patch.close();
        return { retry: patch.header.torn ? plan : actual };
      }
      const first = await patch.ops.next();
      if (!first.done) return { body: this.#body(this.#opening(patch.header), patch, first.value) };
      const { lastMutationIDs } = patch.header;
      const same = !lastMutationIDs && !isFruitless(patch.header);
      return { body: same ? this.#unchanged() : `${this.#opening(patch.header)}]}` };
    } catch (error) {
      await patch?.close();
      if (isTransient(error)) throw error;
      this.#caller.log.error({ error: describeError(error) }, 'A delta failed');
      return { retry: { kind: 'reset', reason: 'failure' } };
    }
  }

  async #full(): Promise<PullBody> {
    const header = headerQuery(this.#headerInput(undefined));
    const patch = await openPatch(this.#db, fullPatch(header, this.#views));
    try {
      this.#check(patch.header);
    } catch (error) {
      await patch.close();
      throw error;
    }
    if (patch.header.torn) {
      await patch.close();
      return this.#full();
    }
    const clear = this.#request.cookie === null ? '' : '{"op":"clear"}';
    const first = await patch.ops.next();
    if (first.done) return `${this.#opening(patch.header)}${clear}]}`;
    return this.#body(`${this.#opening(patch.header)}${clear}${clear && ','}`, patch, first.value);
  }

  #headerInput(cookie: OpenedCookie | undefined): HeaderInput {
    const { clientGroupID, client } = this.#request;
    return {
      clientGroupID,
      base: cookie?.parsedSnapshot,
      sameGroup: cookie?.clientGroupID === clientGroupID,
      tables: this.#installation.tables.map((table) => table.id),
      clientID: client?.id,
    };
  }

  #check({ owner, clientKnown }: Header): void {
    if (owner !== null && owner !== this.#caller.context.userID) {
      throw new Problem('forbidden', 'The client group belongs to another user.');
    }
    const { client } = this.#request;
    if (client && !clientKnown && client.lastMutationID !== 0) {
      throw new Problem('client-record-lost', 'The client has applied mutations, but the server has no record of it.');
    }
  }

  #plan(cookie: OpenedCookie, header: Header): Plan {
    const plan = planPull(cookie, { header, epoch: this.#epoch(header), views: this.#viewsDigest });
    return plan.kind === 'unchanged' && this.#newClient(header) ? { kind: 'delta', tables: [] } : plan;
  }

  /** A client that the request names and the server does not know yet is told its mutation ID 0. */
  #newClient(header: Header): string | undefined {
    const { client } = this.#request;
    return client && !header.clientKnown ? client.id : undefined;
  }

  #epoch({ installID }: Header): string {
    return digest([installID, this.#installation.cluster]);
  }

  #unchanged(): string {
    return JSON.stringify({ cookie: this.#request.cookie, lastMutationIDChanges: {}, patch: [] });
  }

  /** The response up to and including the bracket that opens the patch. */
  #opening(header: Header): string {
    const { clientGroupID, cookie } = this.#request;
    const finished = finishedTransactions(parseSnapshot(header.snapshot)!);
    const next = sealCookie(
      {
        order: nextOrder(orderOf(cookie), finished),
        snapshot: header.snapshot,
        epoch: this.#epoch(header),
        views: this.#viewsDigest,
        clientGroupID,
      },
      this.#installation.secret,
    );
    const newClient = this.#newClient(header);
    const changes = { ...header.lastMutationIDs, ...(newClient === undefined ? {} : { [newClient]: 0 }) };
    return `{"cookie":${JSON.stringify(next)},"lastMutationIDChanges":${JSON.stringify(changes)},"patch":[`;
  }

  async *#body(opening: string, patch: PatchStream, first: Uint8Array): AsyncGenerator<Uint8Array> {
    yield Buffer.concat([Buffer.from(opening), first]);
    yield* { [Symbol.asyncIterator]: () => patch.ops };
    yield Buffer.from(']}');
  }
}
