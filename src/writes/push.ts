import type { ClientBase, PoolClient } from 'pg';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import { MutatorError, Problem } from '../errors.js';
import type { Caller } from '../http/identify.js';
import { describeError } from '../log.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { Mutation, PushRequest } from '../protocol/push.js';
import type { Mutators } from '../registry/mutators.js';
import { prepare } from '../registry/prepare.js';
import {
  type ClientRecord,
  claimMutation,
  type MutationRef,
  readClient,
  readGroup,
  registerGroup,
} from '../store/client-groups.js';
import { mutate } from './mutate.js';

/** The options of `createPush`. */
export interface PushOptions<Tx, Context> {
  readonly db: Database;
  /** Maps the transaction's client to the `tx` that mutators receive. */
  readonly tx: (client: PoolClient) => Tx;
  readonly mutators: Mutators<Tx, Context>;
  /** The schema versions that are served. Default: any. */
  readonly schemaVersions?: readonly string[] | undefined;
}

/**
 * Applies a push's mutations in order, each exactly once. Returns null if all of them have been applied or skipped.
 * @throws Problem `forbidden` or `mutation-gap`, and every transient failure. The mutations before the one that failed
 * remain applied.
 */
export type Push<Context extends UserContext> = (
  request: PushRequest,
  caller: Caller<Context>,
) => Promise<ProtocolError | null>;

/** Creates a push route that applies pushes in this process. */
export function createPush<Tx, Context extends UserContext>(options: PushOptions<Tx, Context>): Push<Context> {
  return (request, caller) => push(options, request, caller);
}

async function push<Tx, Context extends UserContext>(
  options: PushOptions<Tx, Context>,
  { clientGroupID, schemaVersion, mutations }: PushRequest,
  caller: Caller<Context>,
): Promise<ProtocolError | null> {
  const { db, schemaVersions } = options;
  const { userID } = caller.context;
  const clientIDs = [...new Set(mutations.map((mutation) => mutation.clientID))];
  const { owner, clients } = await readGroup(db, clientGroupID, clientIDs);
  if (owner !== null && owner !== userID) throw foreignGroup();
  if (schemaVersions !== undefined && !schemaVersions.includes(schemaVersion)) {
    return { error: 'VersionNotSupported', versionType: 'schema' };
  }
  const [first] = mutations;
  if (owner === null && first !== undefined) {
    // A group whose record was lost is not recorded again: its client starts over with a new group.
    if (first.id > 1 && !clients.has(first.clientID)) return { error: 'ClientStateNotFound' };
    if ((await registerGroup(db, clientGroupID, userID)) !== userID) throw foreignGroup();
  }
  for (const mutation of mutations) {
    const { clientID, id: mutationID } = mutation;
    const before = clients.get(clientID);
    if (before?.clientGroupID === clientGroupID && mutationID <= before.lastMutationID) continue;
    const ref = { clientGroupID, clientID, mutationID };
    const after = await applyOnce(options, mutation, ref, caller).catch((error: unknown) => {
      caller.log.warn({ mutator: mutation.name, ...ref }, 'A mutation could not be applied; the push stops there');
      throw error;
    });
    if (after === undefined) return { error: 'ClientStateNotFound' };
    if (after.clientGroupID !== clientGroupID) throw foreignClient();
    if (after.lastMutationID < mutationID) throw gap(mutation, after);
    clients.set(clientID, after);
  }
  return null;
}

/**
 * Applies a mutation if it is its client's next one. Skips a mutation that fails permanently, so that later ones are
 * not held up. Returns the client's record afterwards; undefined if there is none.
 */
async function applyOnce<Tx, Context extends UserContext>(
  options: PushOptions<Tx, Context>,
  mutation: Mutation,
  ref: MutationRef,
  { context, log }: Caller<Context>,
): Promise<ClientRecord | undefined> {
  const { db, mutators, tx } = options;
  const applied: ClientRecord = { clientGroupID: ref.clientGroupID, lastMutationID: ref.mutationID };
  const claim = async (client: ClientBase) =>
    (await claimMutation(client, ref)) ? undefined : { record: await readClient(client, ref.clientID) };

  const result = await prepare(mutators, mutation.name, mutation.args).then(
    ({ mutator, args }) => mutate(db.transact, (client) => mutator.run({ tx: tx(client), args, ctx: context }), claim),
    (error: unknown) => {
      // A validator may query the database too.
      if (isTransient(error)) throw error;
      return { status: 'failed', error } as const;
    },
  );
  if (result.status === 'applied') return applied;
  if (result.status === 'done before') return result.done.record;

  // Commits only the claim, without the mutator's writes. `done` is set if the mutation has been applied meanwhile.
  const done = await db.transact(claim);
  if (done !== undefined) return done.record;
  const fields = { mutator: mutation.name, ...ref, error: describeError(result.error) };
  if (result.error instanceof MutatorError) log.info(fields, 'Skipped a mutation that its mutator refused');
  else log.error(fields, 'Skipped a mutation that failed permanently');
  return applied;
}

function foreignGroup(): Problem {
  return new Problem('forbidden', 'The client group belongs to another user');
}

function foreignClient(): Problem {
  return new Problem('forbidden', 'A client in the push belongs to another client group');
}

function gap(mutation: Mutation, { lastMutationID }: ClientRecord): Problem {
  return new Problem(
    'mutation-gap',
    `Mutation ${mutation.id} came before mutation ${lastMutationID + 1} of the same client`,
  );
}
