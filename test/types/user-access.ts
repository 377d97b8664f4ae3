/** The access of server code has the types of the application's mutators and views. */
import { defineMutator as defineZeroMutator, defineMutators as defineZeroMutators } from '@rocicorp/zero';
import {
  createSync,
  createTenants,
  defineMutators,
  defineView,
  lazySync,
  mutatorFor,
  type Sync,
  sql,
  type TypedSync,
  viewFor,
} from 'tidemark';
import { z } from 'zod';
import { type AppContext, type AppTransaction, type Equal, holds } from './app.js';

interface Issue {
  readonly id: string;
  readonly due: Date;
}

const defineOwn = mutatorFor<AppContext, AppTransaction>();
const mutators = defineMutators({
  issue: {
    create: defineOwn(z.object({ id: z.string(), tags: z.array(z.string()).default([]) }), () => {}),
    count: defineOwn(z.undefined(), ({ tx }) => tx.count(), { result: z.number() }),
  },
  'issue.deep.close': defineOwn(z.object({ id: z.string() }), () => ({ closed: true }), {
    result: z.object({ closed: z.boolean() }),
  }),
  bare: defineOwn(() => {}),
});
const views = {
  issue: viewFor<AppContext>()({
    query: ({ ctx }) => sql<Issue>`select * from issue where role = any (${ctx.roles})`,
    key: 'id',
  }),
  ofProject: viewFor<AppContext>()({
    args: z.object({ projectID: z.string(), limit: z.int().default(10) }),
    query: ({ args }) => {
      holds<Equal<typeof args, { projectID: string; limit: number }>>();
      return sql<Issue>`select * from issue where project_id = ${args.projectID} limit ${args.limit}`;
    },
    key: 'id',
  }),
  optional: defineView({
    args: z.object({ open: z.boolean().optional() }),
    query: ({ args }) => sql<Issue>`select * from issue where open = ${args.open ?? true}`,
    key: 'id',
  }),
  untyped: defineView({ query: () => sql`select 1 as id`, key: 'id' }),
};

const database = 'postgres://';
const ann: AppContext = { userID: 'ann', roles: [] };
const authenticate = () => ann;
declare function wrap(client: object): AppTransaction;

const start = () => createSync({ database, views, mutators, authenticate, tx: wrap });
const sync = await start();
const as = sync.as(ann);

const { rows, cookie } = await as.view('issue').rows();
holds<Equal<typeof rows, { readonly id: string; readonly due: string }[]>>();
holds<Equal<typeof cookie, string>>();
const row = await as.view('ofProject', { projectID: '7' }).row('a');
holds<Equal<typeof row, { readonly id: string; readonly due: string } | undefined>>();
await as.view('optional', {}).rows();
// @ts-expect-error The view has no arguments.
as.view('issue', { projectID: '7' });
// @ts-expect-error The view has no arguments.
as.view('issue', {});
// @ts-expect-error The view has no arguments.
as.view('untyped', {});
// @ts-expect-error The arguments are missing.
as.view('ofProject');
// @ts-expect-error The arguments are missing, although each of them is optional.
as.view('optional');
// @ts-expect-error An argument is missing.
as.view('ofProject', { limit: 7 });
// @ts-expect-error The view has no such argument.
as.view('ofProject', { projectID: '7', closed: true });
// @ts-expect-error The argument is a string.
as.view('ofProject', { projectID: 7 });
const untyped = await as.view('untyped').row(['a', 1]);
holds<Equal<typeof untyped, unknown>>();

const created = await as.mutate.issue.create({ id: 'a' });
holds<Equal<typeof created, unknown>>();
const count = await as.mutate.issue.count();
holds<Equal<typeof count, number>>();
const closed = await as.mutate.issue.deep.close({ id: 'a' });
holds<Equal<typeof closed, { closed: boolean }>>();
const byName = await as.mutate['issue.deep.close']({ id: 'a' });
holds<Equal<typeof byName, { closed: boolean }>>();
await as.mutate.bare();

const tags = ['a', 'b'];
const results = await as.batch([
  { name: 'issue.create', args: { id: 'a', tags } },
  { name: 'issue.create', args: { id: 'b', tags: ['c'] } },
  { name: 'issue.count' },
  { name: 'issue.deep.close', args: { id: 'a' } },
]);
holds<Equal<typeof results, [unknown, unknown, number, { closed: boolean }]>>();
const none = await as.batch([]);
holds<Equal<typeof none, []>>();
const several = await as.batch(['a', 'b'].map((id) => ({ name: 'issue.deep.close', args: { id } }) as const));
holds<Equal<typeof several, { closed: boolean }[]>>();

// @ts-expect-error There is no such view.
as.view('issues');
// @ts-expect-error There is no such mutator.
as.mutate.issue.delete;
// @ts-expect-error The args are missing.
as.mutate.issue.create();
// @ts-expect-error These are not the mutator's args.
as.mutate.issue.create({ id: 7 });
// @ts-expect-error There is no such mutator.
as.batch([{ name: 'issue.delete', args: { id: 'a' } }]);
// @ts-expect-error These are the args of another mutator.
as.batch([{ name: 'issue.create', args: { closed: true } }]);
// @ts-expect-error The args are missing.
as.batch([{ name: 'issue.create' }]);
// @ts-expect-error The context lacks a field of the application.
sync.as({ userID: 'ann' });
// @ts-expect-error There is no user.
sync.as(null);

// A sync has its types wherever it is passed on.
const lazy = lazySync(start);
holds<Equal<ReturnType<typeof lazy.as>, typeof as>>();
export const annotated: TypedSync<AppContext, typeof mutators, typeof views> = lazy;
const withoutTypes = globalThis as { tidemark?: ReturnType<typeof lazySync> };
withoutTypes.tidemark ??= lazySync(() => createSync({ database, views, authenticate: () => ann }));
const create = () => lazySync(start);
const kept = globalThis as { tidemark?: ReturnType<typeof create> };
kept.tidemark ??= create();
await kept.tidemark.as(ann).mutate.issue.count();
export const plain: Sync<AppContext> = sync;
const plainAs = plain.as(ann);
const plainRows = await plainAs.view('anything').rows();
await plainAs.view('anything', { projectID: '7' }).rows();
holds<Equal<(typeof plainRows)['rows'], unknown[]>>();
const plainResults = await plainAs.batch([{ name: 'anything', args: 1 }, { name: 'other' }]);
holds<Equal<typeof plainResults, [unknown, unknown]>>();
// @ts-expect-error A sync without types knows no mutators.
plainAs.mutate.issue;

const tenants = await createTenants<AppContext, AppTransaction>({
  tenantOf: () => 'acme',
  open: () => ({ database, views, mutators, authenticate, tx: wrap }),
});
const asTenant = tenants.as<typeof mutators, typeof views>('acme', ann);
holds<Equal<typeof asTenant, typeof as>>();
await tenants.as('acme', ann).view('anything').row(1n);

// Zero's registry has no types, so its mutators are called by their names.
const ofZero = defineZeroMutators({ issue: { close: defineZeroMutator(async () => {}) } });
const zero = await createSync({ database, views, mutators: ofZero, authenticate, tx: wrap });
await zero.as(ann).batch([{ name: 'issue.close', args: { id: 'a' } }]);

const withoutMutators = await createSync({ database, views, authenticate });
await withoutMutators.as(ann).view('issue').rows();
const explicit = await createSync<AppContext, AppTransaction>({ database, views, mutators, authenticate, tx: wrap });
await explicit.as(ann).view('issue').rows();
