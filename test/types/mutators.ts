import type { ClientBase } from 'pg';
import {
  type ArgsOf,
  defineMutator,
  defineMutators,
  type Mutators,
  mutatorFor,
  type ResultsOf,
  type UserContext,
  type ValidArgsOf,
} from 'tidemark';
import { z } from 'zod';
import { type AppContext, type AppTransaction, type Equal, holds } from './app.js';

const defineOwn = mutatorFor<AppContext, AppTransaction>();

const create = defineOwn(
  z.object({ id: z.string(), n: z.coerce.number<string>() }),
  async ({ tx, args, ctx }) => {
    holds<Equal<typeof args, { id: string; n: number }>>();
    holds<Equal<typeof tx, AppTransaction>>();
    holds<Equal<typeof ctx, AppContext>>();
    await tx.insert(args);
  },
  { summary: 'Creates a list', examples: { One: { id: 'a', n: '1' } } },
);
const count = defineOwn(z.object({ listID: z.string() }), async ({ tx }) => ({ added: await tx.count() }), {
  result: z.object({ added: z.number().transform(String) }),
});
const bare = defineOwn(({ args }) => holds<Equal<typeof args, unknown>>());
const counted = defineOwn(({ tx }) => tx.count(), { result: z.number() });

const mutators = defineMutators({ list: { create, deep: { count } }, 'todo.bare': bare, counted });
type Args = ArgsOf<typeof mutators>;
holds<Equal<keyof Args, 'list.create' | 'list.deep.count' | 'todo.bare' | 'counted'>>();
holds<Equal<Args['list.create'], { id: string; n: string }>>();
holds<Equal<ValidArgsOf<typeof mutators>['list.create'], { id: string; n: number }>>();
holds<Equal<Args['todo.bare'], unknown>>();
holds<Equal<ResultsOf<typeof mutators>['list.deep.count'], { added: string }>>();
holds<Equal<ResultsOf<typeof mutators>['list.create'], unknown>>();
holds<Equal<ResultsOf<typeof mutators>['counted'], number>>();
// @ts-expect-error There is no such mutator.
export type Missing = Args['list.delete'];

const remove = defineMutator(({ tx, ctx }) => {
  holds<Equal<typeof tx, ClientBase>>();
  holds<Equal<typeof ctx, UserContext>>();
});
export const mixed: Mutators<ClientBase, UserContext> = defineMutators({ remove });
export const empty: Mutators = defineMutators({});
const named = defineMutators({ run: { run: bare } });
holds<Equal<keyof ArgsOf<typeof named>, 'run.run'>>();

// @ts-expect-error The result does not match its schema.
defineOwn(z.object({}), async () => ({ added: 'one' }), { result: z.object({ added: z.number() }) });
// @ts-expect-error The mutator returns nothing, and its schema requires a number.
defineOwn(async () => {}, { result: z.number() });
// @ts-expect-error An example is an input of the validator, not its output.
defineOwn(z.object({ n: z.coerce.number<string>() }), () => {}, { examples: { One: { n: 1 } } });
// @ts-expect-error A bare function is not a mutator.
defineMutators({ remove: () => {} });
// @ts-expect-error These mutators take another transaction.
export const wrong: Mutators = mutators;

declare const needing: Mutators<ClientBase, AppContext>;
// @ts-expect-error A mutator needs more than this context offers.
export const poorer: Mutators<ClientBase, UserContext> = needing;
export function widened(): Mutators<ClientBase, AppContext> {
  return mixed;
}
