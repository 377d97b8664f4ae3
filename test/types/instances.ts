/** Views with arguments, in the client. */
import { type AnyViews, type Client, createClient, type ViewState } from '@tidemark/client';
import { type Equal, holds } from './app.js';

interface Issue {
  readonly id: string;
  readonly projectID: string;
}
interface ViewOf<Row, Args> {
  readonly query: (input: { readonly args: Args }) => unknown;
  readonly key: readonly string[];
  readonly '~row'?: Row;
  readonly '~args'?: Args;
}
type Views = {
  readonly project: ViewOf<{ readonly id: string }, undefined>;
  readonly issue: ViewOf<Issue, { readonly projectID: string; readonly open?: boolean }>;
};

const client = createClient<unknown, Views>({
  user: 'ann',
  matches: {
    issue: (row, args) => {
      holds<Equal<typeof args, { readonly projectID: string; readonly open?: boolean }>>();
      return row.projectID === args.projectID;
    },
  },
});

const issues = client.view('issue', { projectID: '7' }, { matches: (row, args) => row.id === args.projectID });
const rows = await issues.list({ limit: 1 });
holds<Equal<typeof rows, readonly Issue[]>>();
const state = issues.observe({ ttl: 'forever', limit: 1 }).get();
holds<Equal<typeof state, ViewState<Issue>>>();
const code: string | undefined = state.refused?.code;
issues.subscribe((_, complete) => holds<Equal<typeof complete, boolean>>(), { ttl: 0, descending: true });
issues.watch(() => {}, { ttl: 60_000 });
const release: () => void = client.preload('issue', { projectID: '7', open: true }, { ttl: 0 });
const projects = await client.view('project').list();
holds<Equal<typeof projects, readonly { readonly id: string }[]>>();

export const anyClient = client as unknown as Client<never, AnyViews>;
anyClient.view('issue');
anyClient.view('issue', { projectID: '7' });

export { code, release };

export function wrong(): void {
  // @ts-expect-error The arguments are missing.
  client.view('issue');
  // @ts-expect-error An argument is missing.
  client.view('issue', {});
  // @ts-expect-error An argument has another type.
  client.view('issue', { projectID: 7 });
  // @ts-expect-error The view has no such argument.
  client.view('issue', { projectID: '7', closed: true });
  // @ts-expect-error The view has no arguments.
  client.view('project', {});
  // @ts-expect-error The view has no arguments.
  client.preload('project', {});
  // @ts-expect-error An argument is missing.
  client.preload('issue', {});
  // @ts-expect-error A time is a number of milliseconds.
  client.view('issue', { projectID: '7' }).watch(() => {}, { ttl: '5 min' });
  // @ts-expect-error The row has no such field.
  createClient<unknown, Views>({ user: 'ann', matches: { issue: (row) => row.name === 'a' } });
}
