/** Answers the pulls and reads of a server. */
import type { UserContext } from '../../context.js';
import { isOfValues } from '../../db/sqlstate.js';
import { SetupError } from '../../errors.js';
import type { JSONAnswer } from '../../http/answer.js';
import type { Caller } from '../../http/identify.js';
import { annotate } from '../../http/route.js';
import type { ProtocolError } from '../../protocol/protocol-error.js';
import { type PullRequest, unchangedText } from '../../protocol/pull.js';
import type { FailingWant, RefusedWant, Want } from '../../protocol/wants.js';
import { linesIn, type PatchResult, type PullResult } from '../../pulls/pull-result.js';
import { pullSession, type ReadRequest, readSession } from '../../pulls/session.js';
import type { ReplicaRouter } from '../../replicas/replica-router.js';
import type { SeenGroups } from '../../store/seen-groups.js';
import type { Telemetry } from '../../telemetry/telemetry.js';
import type { CheckedWants, WantChecker } from './want-checker.js';

/** The result of a read. It is never `lost`, and with `rows`, never `delta`. */
export type ReadResult = Exclude<PullResult, { kind: 'lost' }>;

/** The collaborators of a `PullService`. */
export interface PullServiceOptions<Context extends UserContext> {
  readonly replicaRouter: Pick<ReplicaRouter<Context>, 'pull' | 'failingWants'>;
  /** The schema versions that the application serves; all if undefined. */
  readonly schemaVersions: readonly string[] | undefined;
  readonly wantChecker: Pick<WantChecker, 'check'>;
  readonly seenGroups: SeenGroups;
  readonly telemetry: Telemetry;
}

/** Answers the pulls of sync clients, and reads of views. */
export class PullService<Context extends UserContext> {
  readonly #options: PullServiceOptions<Context>;
  /** The wants that can be served, in place of lists with some that Postgres refuses. */
  readonly #servable = new WeakMap<readonly Want[], CheckedWants>();

  constructor(options: PullServiceOptions<Context>) {
    this.#options = options;
  }

  /** @throws as `Puller.pull` */
  async pull(request: PullRequest, caller: Caller<Context>): Promise<ProtocolError | JSONAnswer> {
    const { schemaVersions, seenGroups, telemetry } = this.#options;
    if (request.cookie !== null) seenGroups.note(request.clientGroupID);
    const isServed = schemaVersions?.includes(request.schemaVersion);
    telemetry.count('tidemark.pull.requests', { version: isServed ? request.schemaVersion : 'other' });
    if (isServed === false) return { error: 'VersionNotSupported', versionType: 'schema' };
    const { result, refusedWants } = await this.#pullWanted(request, caller);
    annotateResult(caller, result);
    return toAnswer(request, result, caller, refusedWants);
  }

  /** Pulls what can be served of the wants of a request. A want that cannot be served must not prevent the others. */
  async #pullWanted(
    request: PullRequest,
    caller: Caller<Context>,
  ): Promise<{ readonly result: PullResult; readonly refusedWants: readonly RefusedWant[] }> {
    const { replicaRouter, wantChecker } = this.#options;
    const checked = await wantChecker.check(request.wants);
    const { wants, refused } = this.#servable.get(checked.wants) ?? checked;
    const session = pullSession(request, caller, wants);
    try {
      return { result: await replicaRouter.pull(session), refusedWants: refused };
    } catch (error) {
      // The texts of the queries of a view's instances may differ.
      if (wants.length === 0 || !(isOfValues(error) || error instanceof SetupError)) throw error;
      const failing = await replicaRouter.failingWants(session);
      if (failing.length === 0) throw error;
      const refuse = ({ want: { requested }, message }: FailingWant) => {
        return { ...requested, code: 'invalid-args' as const, message };
      };
      const servable = {
        wants: wants.filter((want) => !failing.some((one) => one.want === want)),
        refused: [...refused, ...failing.map(refuse)],
      };
      this.#servable.set(checked.wants, servable);
      const result = await replicaRouter.pull(pullSession(request, caller, servable.wants));
      return { result, refusedWants: servable.refused };
    }
  }

  /**
   * Pulls a part of a client view, without a client group. With `rows`, the cookie stays the same until something
   * changes. The caller must read the result to its end, or close it.
   * @throws as `Puller.pull`
   */
  async read(request: ReadRequest, caller: Caller<Context>): Promise<ReadResult> {
    const result = await this.#options.replicaRouter.pull(readSession(request, caller));
    annotateResult(caller, result);
    if (result.kind === 'lost') throw new Error('A read has no client group that could be lost');
    return result;
  }
}

function annotateResult(caller: Caller, result: PullResult): void {
  if (result.kind === 'lost') return;
  annotate(caller, { pull: result.kind, ...('reason' in result && result.reason && { reason: result.reason }) });
}

/** Up to this size, in bytes, sending a body as one string is cheaper. Longer bodies share the bytes of their ops. */
const wholeBytes = 16 * 1024;

/** Returns the response to a pull. Annotates the caller's request with the number of ops once they have been sent. */
export function toAnswer(
  { cookie, wants }: Pick<PullRequest, 'cookie' | 'wants'>,
  result: PullResult,
  caller: Caller,
  refusedWants: readonly RefusedWant[] = [],
): ProtocolError | JSONAnswer {
  const refused = refusedWants.length > 0 ? `,"refusedWants":${JSON.stringify(refusedWants)}` : '';
  if (result.kind === 'unchanged') {
    const { unchanged } = result.verifiedCookie;
    return { kind: 'json', text: refused === '' ? unchanged : `${unchanged.slice(0, -1)}${refused}}` };
  }
  if (result.kind === 'behind') return { kind: 'json', text: behindText(cookie, wants) };
  if (result.kind === 'lost') return { error: 'ClientStateNotFound' };
  const { firstChunks, more } = result;
  const isWhole = !more && firstChunks.reduce((sum, { length }) => sum + length, 0) <= wholeBytes;
  if (!isWhole) return { kind: 'json in pieces', pieces: pieces(result, refused, caller) };
  annotate(caller, { ops: firstChunks.reduce((sum, bytes) => sum + countLines(bytes), 0) });
  const start = startOf(result, firstChunks.length > 0);
  return { kind: 'json', text: `{${fieldsOf(result)}${refused},${start}${Buffer.concat(firstChunks).toString()}]}` };
}

/** Returns the response of a standby that is behind. A client with wants must not conclude that it has them. */
function behindText(cookie: unknown, wants: PullRequest['wants']): string {
  const text = unchangedText(cookie);
  return wants ? `${text.slice(0, -1)},"behind":true}` : text;
}

function fieldsOf({ cookie, lastMutationIDChanges, laterViews }: PatchResult): string {
  const later = laterViews ? `,"laterViews":${JSON.stringify(laterViews)}` : '';
  return `"cookie":${JSON.stringify(cookie)},"lastMutationIDChanges":${JSON.stringify(lastMutationIDChanges)}${later}`;
}

/** Returns the start of the patch, up to the first op that was read. */
function startOf({ kind }: PatchResult, hasOps: boolean): string {
  return `"patch":[${kind === 'reset' ? `{"op":"clear"}${hasOps ? ',' : ''}` : ''}`;
}

/** Yields the ops first, because the patch that they belong to is certain only after the last of them. */
async function* pieces(patchResult: PatchResult, refused: string, caller: Caller): AsyncGenerator<Uint8Array> {
  let ops = 0;
  let hasBegun = false;
  const start = (hasOps: boolean) => Buffer.from(hasBegun ? '' : `{${startOf(patchResult, hasOps)}`);
  try {
    for await (const bytes of linesIn(patchResult)) {
      ops += countLines(bytes);
      yield hasBegun ? bytes : Buffer.concat([start(true), bytes]);
      hasBegun = true;
    }
    yield Buffer.concat([
      start(false),
      Buffer.from(`],${fieldsOf(patchResult.more?.replacement ?? patchResult)}${refused}}`),
    ]);
  } finally {
    annotate(caller, { ops });
  }
}

const newline = 0x0a;

/** Counts the ops, each of which is on a line of its own. */
function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}
