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
type ClientOfBoth = Client<typeof mutators, typeof views>;

/** The rows that a view of the client has. */
type RowsOf<View> = View extends { get(key: string): Promise<infer Row> } ? Row : never;

export function agree(client: ClientOfBoth, views: Views<AppContext>): AnyViews {
  type Shown = typeof client extends Client<unknown, infer All> ? All : never;
  const [task, camel, list, untyped] = [
    client.view('task'),
    client.view('camel'),
    client.view('list'),
    client.view('untyped'),
  ];
  holds<Equal<RowsOf<typeof task>, RowOf<Shown['task']> | undefined>>();
  holds<Equal<RowOf<Shown['task']>['due'], string>>();
  holds<Equal<RowsOf<typeof camel>, RowOf<Shown['camel']> | undefined>>();
  holds<Equal<RowOf<Shown['camel']>['listId'], string | undefined>>();
  holds<Equal<RowsOf<typeof list>, RowOf<Shown['list']> | undefined>>();
  holds<Equal<RowOf<Shown['list']>, string | null>>();
  holds<Equal<RowsOf<typeof untyped>, unknown>>();
  type Args = ArgsOf<typeof mutators>;
  type Call<Name extends keyof Args> = Parameters<Mutate<typeof mutators>[Name]>;
  holds<Equal<Call<'task.create'>, [args: Args['task.create']]>>();
  holds<Equal<Args['task.create'], { id: string; size?: number | undefined }>>();
  holds<Equal<Call<'untyped'>, [args?: Args['untyped']]>>();
  return views;
}
