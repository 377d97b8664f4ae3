/** An application that is deployed in three steps: version 1, versions 1 and 2 from one server, version 2 alone. */
import type { ClientBase } from 'pg';
import { defineMutators, type Mutators, mutatorFor } from '../../../packages/tidemark/src/registry/mutators.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { type Views, viewFor } from '../../../packages/tidemark/src/view/define.js';
import type { ClientVersion } from './client.js';

export interface User {
  readonly userID: string;
}

export interface Application {
  readonly schemaVersions: readonly string[];
  readonly views: Views<User>;
  readonly mutators: Mutators<ClientBase, User>;
}

/** The tables of version 1. `written` has no unique column, so a mutation that is applied twice is there twice. */
export const schema = `
  create table entry (id text primary key, owner text not null, n int not null default 0, kind text not null default 'plain');
  create table tag (id text primary key, owner text not null, label text not null);
  create table written (mutation text not null)`;

/** The additions of version 2, which do not affect version 1. */
export const expand = `
  alter table entry add column stars int not null default 0;
  create table reminder (id text primary key, owner text not null)`;

/** Removes what version 2 does not need. */
export const contract = 'alter table entry drop column kind';

interface Args {
  readonly mutation: string;
  readonly id: string;
}

const defineView = viewFor<User>();
const defineMutator = mutatorFor<User>();

/** A mutator that records each run. */
const writes = <A extends Args>(run: (call: { tx: ClientBase; owner: string; args: A; version?: string }) => unknown) =>
  defineMutator(async ({ tx, args: sent, ctx: { userID: owner }, schemaVersion: version }) => {
    const args = sent as A;
    await run({ tx, owner, args, ...(version !== undefined && { version }) });
    await tx.query('insert into written values ($1)', [args.mutation]);
  });

const tagged = (userID: string) => sql`select id, label from tag where owner = ${userID}`;

const add1 = writes(({ tx, owner, args: { id } }) =>
  tx.query('insert into entry (id, owner) values ($1, $2)', [id, owner]),
);
const bump1 = writes(({ tx, args: { id } }) => tx.query('update entry set n = n + 1 where id = $1', [id]));
const remove = writes(({ tx, args: { id } }) => tx.query('delete from entry where id = $1', [id]));
const tag = writes(({ tx, owner, args: { id } }) => tx.query(`insert into tag values ($1, $2, 'new')`, [id, owner]));

const first: Application = {
  schemaVersions: ['1'],
  views: {
    entry: defineView({
      query: ({ ctx }) => sql`select id, n, kind from entry where owner = ${ctx.userID}`,
      key: 'id',
    }),
    tag: defineView({ query: ({ ctx }) => tagged(ctx.userID), key: 'id' }),
  },
  mutators: defineMutators({ add: add1, bump: bump1, remove, tag }),
};

const add2 = writes<Args & { stars?: number }>(({ tx, owner, args: { id, stars = 0 } }) =>
  tx.query('insert into entry (id, owner, stars) values ($1, $2, $3)', [id, owner, stars]),
);
/** Version 1 adds one. Version 2 has an argument for the number. */
const bump2 = writes<Args & { by: number }>(({ tx, args: { id, by }, version }) =>
  tx.query('update entry set n = n + $2 where id = $1', [id, version === '1' ? 1 : by]),
);
const remind = writes(({ tx, owner, args: { id } }) => tx.query('insert into reminder values ($1, $2)', [id, owner]));

const onlyFor = (version: string) => ({ schemaVersions: [version] });
const label = defineView({ ...onlyFor('2'), query: ({ ctx }) => tagged(ctx.userID), key: 'id' });
const reminder = defineView({
  ...onlyFor('2'),
  query: ({ ctx }) => sql`select id from reminder where owner = ${ctx.userID}`,
  key: 'id',
});
const entryOf2 = ({ ctx }: { readonly ctx: User }) => sql`select id, n, stars from entry where owner = ${ctx.userID}`;

const both: Application = {
  schemaVersions: ['2', '1'],
  views: {
    entry: defineView({
      query: (input) =>
        input.schemaVersion === '1'
          ? first.views.entry!.query({ ...input, args: undefined as never })
          : entryOf2(input),
      key: 'id',
    }),
    tag: defineView({ ...onlyFor('1'), query: ({ ctx }) => tagged(ctx.userID), key: 'id' }),
    label,
    reminder,
  },
  mutators: defineMutators({ add: add2, bump: bump2, remove, tag, remind }),
};

const second: Application = {
  schemaVersions: ['2'],
  views: { entry: defineView({ query: entryOf2, key: 'id' }), label, reminder },
  mutators: defineMutators({ add: add2, bump: bump2, tag, remind }),
};

export const applications = { first, both, second };

/** The options of a server of the application, besides its database and its log. */
export const optionsOf = ({ schemaVersions, views, mutators }: Application) => ({
  schemaVersions,
  views,
  mutators,
  authenticate: (request: Request): User => ({ userID: request.headers.get('authorization')!.slice('Bearer '.length) }),
  metrics: 'public' as const,
});

/** Calls mutators in rounds. The first call of each round writes an entry for the others. */
const alternating =
  (...calls: readonly ((id: string) => { name: string; [arg: string]: unknown })[]): ClientVersion['mutation'] =>
  (clientID, number) => {
    const index = (number - 1) % calls.length;
    const { name, ...args } = calls[index]!(`${clientID}-${number - index}`);
    return { name, args: { ...args, mutation: `${clientID}-${number}` } };
  };

export const clientVersions: readonly [ClientVersion, ClientVersion] = [
  {
    schemaVersion: '1',
    mutation: alternating(
      (id) => ({ name: 'add', id }),
      (id) => ({ name: 'bump', id }),
      (id) => ({ name: 'tag', id }),
      (id) => ({ name: 'add', id: `${id}-kept` }),
      (id) => ({ name: 'remove', id }),
    ),
  },
  {
    schemaVersion: '2',
    mutation: alternating(
      (id) => ({ name: 'add', id, stars: 3 }),
      (id) => ({ name: 'bump', id, by: 5 }),
      (id) => ({ name: 'tag', id }),
      (id) => ({ name: 'remind', id }),
    ),
  },
];

/** The current results of the queries themselves: what a client of a version should hold, by key. */
export async function rowsOf(
  { views }: Application,
  userID: string,
  schemaVersion: string,
  query: (text: string, values: unknown[]) => Promise<readonly Record<string, unknown>[]>,
): Promise<Map<string, unknown>> {
  const rows = new Map<string, unknown>();
  for (const [name, view] of Object.entries(views)) {
    if (view.schemaVersions && !view.schemaVersions.includes(schemaVersion)) continue;
    const { text, values } = view.query({
      ctx: { userID },
      profileID: 'p',
      schemaVersion,
      args: undefined as never,
    }) as ReturnType<typeof sql>;
    for (const row of await query(text, [...values])) rows.set(`${name}/${row.id}`, row);
  }
  return rows;
}
