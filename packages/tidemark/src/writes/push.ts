import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import type { Caller } from '../http/identify.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { Mutation, PushRequest } from '../protocol/push.js';
import type { Mutators } from '../registry/mutators.js';
import { PreparedCalls } from '../registry/prepared-calls.js';
import { type AuditLog, noAuditLog } from '../store/audit-log.js';
import { applyBatch } from './apply-batch.js';
import { type ApplyOptions, applyOnce } from './apply-once.js';
import { Batches } from './batches.js';
import { dismissName, dismissOnce } from './dismiss-once.js';
import { PushedGroup } from './pushed-group.js';

/** The options of `createPush`. */
export interface PushOptions<Tx, Context extends UserContext>
  extends Omit<ApplyOptions<Tx, Context>, 'preparedCalls' | 'auditLog' | 'profileID' | 'schemaVersion'> {
  readonly mutators: Mutators<Tx, Context>;
  /** The schema versions that the server accepts. Default: any. */
  readonly schemaVersions?: readonly string[] | undefined;
  /** True to run each mutation in its own transaction, even if it could share one. Default false. */
  readonly separateTransactions?: boolean | undefined;
  /** Default: none. */
  readonly auditLog?: AuditLog | undefined;
}

/**
 * Applies the mutations of a push in order, each exactly once. Returns null if all have been applied or skipped.
 * @throws Problem `forbidden` or `mutation-gap`, `unavailable` if the client disconnects, and every transient failure.
 * The mutations before the failed one remain applied, unless the connection was lost during their commit.
 */
export type Push<Context extends UserContext> = (
  request: PushRequest,
  caller: Caller<Context>,
) => Promise<ProtocolError | null>;

/** Creates a function that applies pushes in this process. */
export function createPush<Tx, Context extends UserContext>(options: PushOptions<Tx, Context>): Push<Context> {
  const separateMutators = new Set([dismissName, ...(options.separateTransactions ? options.mutators.keys() : [])]);
  return (request, caller) => push(options, separateMutators, request, caller);
}

/** @param separateMutators the names of mutators that share no transaction; batches add to it */
async function push<Tx, Context extends UserContext>(
  options: PushOptions<Tx, Context>,
  separateMutators: Set<string>,
  request: PushRequest,
  caller: Caller<Context>,
): Promise<ProtocolError | null> {
  const { clientGroupID, profileID, schemaVersion, mutations } = request;
  const group = new PushedGroup(options, request, caller.context.userID);
  // Most pushes continue where their client's previous push ended. Then the first claim checks all that is necessary.
  if (group.isNew || !group.isServed) {
    const refusal = await group.load();
    if (refusal !== undefined) return refusal;
  }
  const { mutators, auditLog = noAuditLog } = options;
  const preparedCalls = new PreparedCalls(mutators);
  const applyOptions = { ...options, auditLog, profileID, schemaVersion, preparedCalls };
  const batches = new Batches(mutations, separateMutators);
  /** Mutations whose mutators may still be running, although their transaction was abandoned. */
  const running = new Map<Mutation, Promise<unknown>>();
  for (let index = 0; index < mutations.length; ) {
    // Most pushes are a single batch, and skip this check.
    if (index > 0 && caller.request?.signal.aborted) throw new Problem('unavailable', 'The client went away');
    const mutation = mutations[index]!;
    if (group.hasApplied(mutation)) {
      index++;
      continue;
    }
    const batch = batches.next(index);
    const ref = { clientGroupID, clientID: mutation.clientID, mutationID: mutation.id };
    const apply = async () => {
      await running.get(mutation);
      const isApplied = await (mutation.name === dismissName
        ? dismissOnce(applyOptions, mutation, ref, caller)
        : applyOnce(applyOptions, mutation, ref, caller));
      return { status: 'applied', count: isApplied ? 1 : 0 } as const;
    };
    const result = await (batch.length === 1
      ? apply()
      : applyBatch(applyOptions, batch, ref, caller, separateMutators)
    ).catch((error: unknown) => {
      caller.log.warn({ mutator: mutation.name, ...ref }, 'A mutation could not be applied; the push stops there');
      throw error;
    });
    if (result.status === 'failed') {
      batches.recordFailure(batch, result.index);
      if (result.index !== undefined) running.set(batch[result.index]!, result.finished);
    } else if (result.count > 0) {
      group.applied(batch[result.count - 1]!);
      index += result.count;
    } else {
      const refusal = (await group.load()) ?? group.refuse(mutation);
      if (refusal !== undefined) return refusal;
      index++;
    }
  }
  return null;
}
