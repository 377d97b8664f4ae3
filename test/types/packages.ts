/** The packages of the server and of the client, which do not import each other, agree about rows and args. */
import type { AnyViews, Client, Mutate } from '@tidemark/client';
import { type ArgsOf, defineMutator, defineMutators, defineView, type RowOf, sql, type Views } from 'tidemark';
import { z } from 'zod';
import { type AppContext, type Equal, holds } from './app.js';

interface Task {
  readonly id: string;
  readonly list_id: string | null;
  readonly due: Date;
  readonly size: bigint;
  readonly tags: readonly string[];
}

const query = () => sql<Task>`select * from task`;
const views = {
  task: defineView({ query, key: 'id' }),
  camel: defineView({ query, key: 'id', columns: 'camelCase', nulls: 'omit' }),
  list: defineView({ query, key: 'id', value: 'list_id' }),
  untyped: defineView({ query: () => sql`select 1 as id`, key: 'id' }),
};
const mutators = defineMutators({
  task: { create: defineMutator(z.object({ id: z.string(), size: z.number().default(1) }), () => {}) },
  untyped: defineMutator(() => {}),
});

type OnServer<Name extends keyof typeof views> = RowOf<(typeof views)[Name]>;
type Args = ArgsOf<typeof mutators>;
type Call<Name extends keyof Args> = Parameters<Mutate<typeof mutators>[Name]>;

holds<Equal<OnServer<'task'>['due'], string>>();
holds<Equal<OnServer<'camel'>['listId'], string | undefined>>();
holds<Equal<OnServer<'list'>, string | null>>();
holds<Equal<Args['task.create'], { id: string; size?: number | undefined }>>();
holds<Equal<Call<'task.create'>, [args: Args['task.create']]>>();
holds<Equal<Call<'untyped'>, [args?: Args['untyped']]>>();

export async function read(client: Client<typeof mutators, typeof views>): Promise<void> {
  const task = await client.view('task').get('a');
  holds<Equal<typeof task, OnServer<'task'> | undefined>>();
  const camel = await client.view('camel').get('a');
  holds<Equal<typeof camel, OnServer<'camel'> | undefined>>();
  const list = await client.view('list').get('a');
  holds<Equal<typeof list, OnServer<'list'> | undefined>>();
  const untyped = await client.view('untyped').get('a');
  holds<Equal<typeof untyped, OnServer<'untyped'>>>();
}

export const withAnyContext = (views: Views<AppContext>): AnyViews => views;
