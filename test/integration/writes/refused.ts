/** A server whose mutators refuse in every way, and clients that receive the refusals. */
import { z } from 'zod';
import { MutatorError, Problem } from '../../../packages/tidemark/src/errors.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { type ServerOptions, startServer, type TestServer } from '../conformance/server.js';
import { type JSONObject, mutation, type Op, type PullAnswer, pull, push } from '../conformance/wire.js';

/** Sessions write times in the time zone of Tokyo. */
const setup = `
  create table item (id text primary key, owner_id text not null);
  do $$ begin execute format('alter database %I set timezone to %L', current_database(), 'Asia/Tokyo'); end $$`;

export const views = {
  item: defineView<{ id: string }>({
    query: ({ ctx }) => ({ text: 'select id from item where owner_id = $1', values: [ctx.userID] }),
    key: 'id',
  }),
};

class ApplicationError extends Error {
  override readonly name = 'ApplicationError';
}

export const mutators = defineMutators({
  add: defineMutator(z.object({ id: z.string() }), async ({ tx, args, ctx }) => {
    await tx.query('insert into item values ($1, $2)', [args.id, ctx.userID]);
  }),
  refuse: defineMutator(z.string(), async ({ tx, args, ctx }) => {
    await tx.query('insert into item values ($1, $2)', [args, ctx.userID]);
    throw new MutatorError(args, { status: 409, details: { by: 'ben' } });
  }),
  forbid: defineMutator(() => {
    throw new Problem('forbidden', 'Only its owner may do this', { cause: new Error('secret') });
  }),
  zero: defineMutator(() => {
    throw new ApplicationError('As Zero refuses');
  }),
  /** Takes JSON text, because args that cannot be stored would not reach the mutator. */
  say: defineMutator(z.string(), ({ args }) => {
    throw new MutatorError(JSON.parse(args) as string);
  }),
  odd: defineMutator(() => {
    throw new MutatorError('With odd details', { details: 1n });
  }),
  break: defineMutator(async ({ tx }) => {
    await tx.query(`select 'secret'::int`);
  }),
});

export function serveRefusing(options: ServerOptions = {}): Promise<TestServer> {
  return startServer({ setup, views, mutators, ...options });
}

export interface RefusalRow {
  readonly clientID: string;
  readonly mutationID: number;
  readonly name: string | null;
  readonly code: string;
  readonly detail: string | null;
  readonly at: string;
}

const prefix = 'tidemark/refused/';

/** The IDs of the mutations whose refusals a patch puts or deletes: their keys without the prefix. */
export function keysIn(patch: readonly Op[], op: 'put' | 'del'): string[] {
  return patch.flatMap((one) => (one.op === op && one.key.startsWith(prefix) ? [one.key.slice(prefix.length)] : []));
}

/** Pulls as a client that requests refusals. */
export function pullRefused(server: TestServer, user: string, fields: JSONObject = {}): Promise<PullAnswer> {
  return pull(server, user, { refused: true, ...fields });
}

/** All refusals that a new client would receive, in the order of the mutations. */
export async function refusedOf(server: TestServer, user: string, fields: JSONObject = {}): Promise<RefusalRow[]> {
  const { patch } = await pullRefused(server, user, fields);
  const refusals = patch.flatMap((op) =>
    op.op === 'put' && op.key.startsWith(prefix) ? [op.value as RefusalRow] : [],
  );
  return refusals.sort((a, b) => a.mutationID - b.mutationID);
}

/** Makes the server refuse a client's mutations with these numbers. */
export async function refuse(
  server: TestServer,
  user: string,
  ids: readonly number[],
  { clientID = 'client', ...fields }: JSONObject & { readonly clientID?: string } = {},
): Promise<void> {
  const mutations = ids.map((id) => mutation(id, 'refuse', `No ${id}`, clientID));
  const answer = await push(server, user, mutations, fields);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
}
