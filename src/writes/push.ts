import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import type { Caller } from '../http/identify.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { Mutation, PushRequest } from '../protocol/push.js';
import type { Mutators } from '../registry/mutators.js';
import { type PreparedCall, prepare } from '../registry/prepare.js';
import { type Journal, noJournal } from '../store/journal.js';
import { type ApplyOptions, applyOnce } from './apply-once.js';
import { applyTogether } from './apply-together.js';
import { dismissName, dismissOnce } from './dismiss-once.js';
import { PushedGroup } from './pushed-group.js';
import { Runs } from './runs.js';

/** The options of `createPush`. */
export interface PushOptions<Tx, Context extends UserContext>
  extends Omit<ApplyOptions<Tx, Context>, 'prepare' | 'journal' | 'profileID' | 'schemaVersion'> {
  readonly mutators: Mutators<Tx, Context>;
  /** The schema versions that are served. Default: any. */
  readonly schemaVersions?: readonly string[] | undefined;
  /** Whether each mutation has a transaction of its own, even if it could share one. Default false. */
  readonly separateTransactions?: boolean | undefined;
  /** Default: none. */
  readonly journal?: Journal | undefined;
}

/**
 * Applies a push's mutations in order, each exactly once. Returns null if all of them have been applied or skipped.
 * @throws Problem `forbidden` or `mutation-gap`, `unavailable` if the client goes away, and every transient failure. The
 * mutations before the one that failed remain applied, unless the connection was lost while they were committed.
 */
export type Push<Context extends UserContext> = (
  request: PushRequest,
  caller: Caller<Context>,
) => Promise<ProtocolError | null>;

/** Creates a push route that applies pushes in this process. */
export function createPush<Tx, Context extends UserContext>(options: PushOptions<Tx, Context>): Push<Context> {
  const apart = new Set([dismissName, ...(options.separateTransactions ? options.mutators.keys() : [])]);
  return (request, caller) => push(options, apart, request, caller);
}

/** @param apart the names of mutators that share no transaction; grows */
async function push<Tx, Context extends UserContext>(
  options: PushOptions<Tx, Context>,
  apart: Set<string>,
  request: PushRequest,
  caller: Caller<Context>,
): Promise<ProtocolError | null> {
  const { clientGroupID, profileID, schemaVersion, mutations } = request;
  const group = new PushedGroup(options, request, caller.context.userID);
  // A push usually goes on where its client's last one ended. Its first claim then tells all that must be known.
  if (group.isNew || !group.isServed) {
    const refusal = await group.enter();
    if (refusal !== undefined) return refusal;
  }
  const { mutators, journal = noJournal } = options;
  const applyOptions = { ...options, journal, profileID, schemaVersion, prepare: preparesOnce(mutators) };
  const runs = new Runs(mutations, apart);
  /** Mutations that may still be running, although their transaction was given up. */
  const running = new Map<Mutation, Promise<unknown>>();
  for (let place = 0; place < mutations.length; ) {
    // Most pushes are a single run, and need not ask.
    if (place > 0 && caller.signal?.().aborted) throw new Problem('unavailable', 'The client went away');
    const mutation = mutations[place]!;
    if (group.hasApplied(mutation)) {
      place++;
      continue;
    }
    const run = runs.next(place);
    const ref = { clientGroupID, clientID: mutation.clientID, mutationID: mutation.id };
    const apply = async () => {
      await running.get(mutation);
      const isApplied = await (mutation.name === dismissName
        ? dismissOnce(applyOptions, mutation, ref, caller)
        : applyOnce(applyOptions, mutation, ref, caller));
      return { status: 'applied', count: isApplied ? 1 : 0 } as const;
    };
    const result = await (run.length === 1 ? apply() : applyTogether(applyOptions, run, ref, caller, apart)).catch(
      (error: unknown) => {
        caller.log.warn({ mutator: mutation.name, ...ref }, 'A mutation could not be applied; the push stops there');
        throw error;
      },
    );
    if (result.status === 'failed') {
      runs.failed(run, result.place);
      if (result.place !== undefined) running.set(run[result.place]!, result.settled);
    } else if (result.count > 0) {
      group.applied(run[result.count - 1]!);
      place += result.count;
    } else {
      const refusal = (await group.enter()) ?? group.refuse(mutation);
      if (refusal !== undefined) return refusal;
      place++;
    }
  }
  return null;
}

/** Prepares each mutation at most once: a shorter run of the same mutations does not validate them again. */
function preparesOnce<Tx, Context extends UserContext>(
  mutators: Mutators<Tx, Context>,
): ApplyOptions<Tx, Context>['prepare'] {
  const prepared = new Map<Mutation, Promise<PreparedCall<Tx, Context>>>();
  return (mutation) => {
    const call = prepared.get(mutation) ?? prepare(mutators, mutation.name, mutation.args);
    prepared.set(mutation, call);
    return call;
  };
}
