/** Answers the pulls and reads of a server. */
import type { UserContext } from '../context.js';
import type { JSONAnswer } from '../http/answer.js';
import type { Caller } from '../http/identify.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { PullRequest } from '../protocol/pull.js';
import { toAnswer } from '../pulls/pull-answer.js';
import type { PullResult } from '../pulls/pull-result.js';
import { pullSession, type ReadRequest, readSession } from '../pulls/session.js';
import type { ReplicaRouter } from '../replicas/replica-router.js';
import type { SeenGroups } from '../store/seen-groups.js';
import type { Telemetry } from '../telemetry/telemetry.js';

/** The result of a read. It is never `lost`, and with `rows`, never `delta`. */
export type ReadResult = Exclude<PullResult, { kind: 'lost' }>;

/** The collaborators of a `PullService`. */
export interface PullServiceOptions<Context extends UserContext> {
  readonly replicaRouter: Pick<ReplicaRouter<Context>, 'pull'>;
  /** The schema versions that the application serves; all if undefined. */
  readonly schemaVersions: readonly string[] | undefined;
  readonly seenGroups: SeenGroups;
  readonly telemetry: Telemetry;
}

/** Answers the pulls of sync clients, and reads of views. */
export class PullService<Context extends UserContext> {
  readonly #options: PullServiceOptions<Context>;

  constructor(options: PullServiceOptions<Context>) {
    this.#options = options;
  }

  /** @throws as `Puller.pull` */
  async pull(request: PullRequest, caller: Caller<Context>): Promise<ProtocolError | JSONAnswer> {
    const { replicaRouter, schemaVersions, seenGroups, telemetry } = this.#options;
    if (request.cookie !== null) seenGroups.note(request.clientGroupID);
    const isServed = schemaVersions?.includes(request.schemaVersion);
    telemetry.count('tidemark.pull.requests', { version: isServed ? request.schemaVersion : 'other' });
    if (isServed === false) return { error: 'VersionNotSupported', versionType: 'schema' };
    const result = await replicaRouter.pull(pullSession(request, caller));
    annotate(caller, result);
    return toAnswer(request, result, caller);
  }

  /**
   * Pulls a part of a client view, without a client group. With `rows`, the cookie stays the same until something
   * changes. The caller must read the result to its end, or close it.
   * @throws as `Puller.pull`
   */
  async read(request: ReadRequest, caller: Caller<Context>): Promise<ReadResult> {
    const result = await this.#options.replicaRouter.pull(readSession(request, caller));
    annotate(caller, result);
    if (result.kind === 'lost') throw new Error('A read has no client group that could be lost');
    return result;
  }
}

function annotate(caller: Caller, result: PullResult): void {
  if (result.kind === 'lost') return;
  caller.annotate?.({ pull: result.kind, ...('reason' in result && result.reason && { reason: result.reason }) });
}
