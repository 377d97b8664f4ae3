/** Instances of views with arguments: what clients want, and what they have. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openClient } from '../../../packages/client/src/create-client.js';
import type { Client, ClientOptions } from '../../../packages/client/src/index.js';
import { type Issue, serveWants } from './wants-server.js';

interface View<Row, Args> {
  readonly query: (input: never) => unknown;
  readonly key: readonly string[];
  readonly '~row'?: Row;
  readonly '~args'?: Args;
}
type Views = {
  readonly project: View<{ readonly id: string; readonly name: string }, undefined>;
  readonly issue: View<Issue, { readonly projectID: string }>;
};
interface Mutators {
  readonly '~types'?: { readonly 'issue.create': { readonly args: Issue } };
}

const setUp = async (serverIssues: readonly Issue[] = someIssues) => {
  const server = await serveWants();
  for (const issue of serverIssues) server.issues.set(issue.id, issue);
  const open = (options: Partial<ClientOptions<Mutators, Views>> = {}) => {
    const defaults: ClientOptions<Mutators, Views> = {
      user: randomUUID(),
      url: server.url,
      kvStore: 'mem',
      pullInterval: null,
      mutators: { issue: { create: (tx, issue) => tx.view('issue').set(issue.id, issue) } },
    };
    const { client } = openClient({ ...defaults, ...options } as never) as unknown as {
      client: Client<Mutators, Views>;
    };
    onTestFinished(() => client.close());
    return client;
  };
  return { server, open };
};

const someIssues: readonly Issue[] = [
  { id: 'a', projectID: '7', title: 'Dig' },
  { id: 'b', projectID: '7', title: 'Sow' },
  { id: 'c', projectID: '8', title: 'Cook' },
];
/** Pulls, and returns the projects whose issues the last pull wanted. */
async function nextWanted(client: { pull(): Promise<void> }, server: { wanted(): unknown[][] }): Promise<unknown[]> {
  await client.pull();
  return server.wanted().at(-1)!;
}

const ids = (rows: readonly Issue[] | undefined) => rows?.map(({ id }) => id);

describe('an instance of a view', () => {
  it('is pulled while something subscribes to it, and complete from then on', async () => {
    const { server, open } = await setUp();
    const client = open();
    const listener = vi.fn();
    client.view('issue', { projectID: '7' }).subscribe(listener);
    await expect.poll(() => listener.mock.lastCall).toEqual([someIssues.slice(0, 2), true]);
    expect(server.pulls[0]).toMatchObject({ wants: [{ view: 'issue', args: { projectID: '7' } }], stages: true });
    expect(await client.view('issue', { projectID: '8' }).list()).toEqual([]);
    const other = client.view('issue', { projectID: '8' }).observe();
    expect(other.get()).toEqual({ rows: undefined, complete: false });
    const stop = other.subscribe(() => {});
    await expect.poll(() => other.get()).toEqual({ rows: someIssues.slice(2), complete: true });
    expect(server.wanted().at(-1)!.toSorted()).toEqual(['7', '8']);
    stop();
  });

  it('has only the rows that belong to it, for each way to read them', async () => {
    const { open } = await setUp();
    const client = open({ indexes: { issue: ['title'] } });
    const [seven, eight] = ['7', '8'].map((projectID) => client.view('issue', { projectID }));
    const changes = vi.fn();
    seven!.watch(changes);
    eight!.subscribe(() => {});
    await expect.poll(() => client.query((tx) => tx.view('issue').count())).toBe(3);
    expect(ids(await seven!.list())).toEqual(['a', 'b']);
    expect(ids(await seven!.list({ by: 'title', descending: true, limit: 1 }))).toEqual(['b']);
    expect(ids(await eight!.list({ limit: 5 }))).toEqual(['c']);
    expect(await seven!.list({ limit: 0 })).toEqual([]);
    expect(await seven!.count()).toBe(2);
    expect(await seven!.get('a')).toEqual(someIssues[0]);
    expect(await seven!.get('c')).toBeUndefined();
    const moved = { id: 'c', projectID: '7', title: 'Cook' };
    await client.mutate.issue.create(moved);
    await expect.poll(() => changes.mock.lastCall).toEqual([[{ key: 'c', row: moved, before: undefined }]]);
    await client.mutate.issue.create({ ...moved, projectID: '8' });
    await expect.poll(() => changes.mock.lastCall).toEqual([[{ key: 'c', row: undefined, before: moved }]]);
    expect(changes.mock.calls.flat(2).some(({ row }) => row?.projectID === '8')).toBe(false);
  });

  it('is the same for equal arguments, whatever the order of their fields', async () => {
    const { server, open } = await setUp();
    const client = open({ matches: { issue: () => true } });
    const args: readonly object[] = [
      { projectID: '7', open: true },
      { open: true, projectID: '7' },
    ];
    for (const each of args) client.view('issue', each as { projectID: string }).subscribe(() => {});
    await expect.poll(() => server.pulls.length).toBeGreaterThan(0);
    expect(server.pulls[0]!.wants).toEqual([{ view: 'issue', args: { projectID: '7', open: true } }]);
  });

  it('is complete if the server has nothing new for it', async () => {
    const { server, open } = await setUp();
    const client = open();
    client.view('issue', { projectID: '7' }).subscribe(() => {});
    await expect.poll(() => client.view('issue', { projectID: '7' }).list()).toHaveLength(2);
    // The same project for the server, but another instance.
    const alias = client.view('issue', { projectID: 7 as unknown as string }).observe();
    alias.subscribe(() => {});
    await expect.poll(() => alias.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
    const { length } = server.pulls;
    await client.pull();
    await client.pull();
    expect(server.pulls).toHaveLength(length + 2);
    expect(server.pulls.at(-1)!.cookie).toEqual(server.pulls.at(-2)!.cookie);
    expect(server.pulls.at(-1)!.cookie).not.toHaveProperty('marks');
    server.issues.set('d', { id: 'd', projectID: '7', title: 'Reap' });
    await client.pull();
    expect(ids(alias.get().rows)).toEqual(['a', 'b', 'd']);
    expect(alias.get().complete).toBe(true);
  });

  it('is pulled once if it is wanted from the start, however slow the server is', async () => {
    const { server, open } = await setUp();
    server.pokesFirst = false;
    // Longer than changes are gathered.
    server.beforePull = new Promise((resolve) => setTimeout(resolve, 300));
    const client = open();
    const observed = client.view('issue', { projectID: '7' }).observe();
    observed.subscribe(() => {});
    await expect.poll(() => observed.get().complete).toBe(true);
    await client.view('project').list();
    expect(server.pulls).toHaveLength(1);
  });

  it('costs nothing if it is wanted again within its `ttl`', async () => {
    const { server, open } = await setUp();
    server.pokesFirst = false;
    const client = open();
    const listener = vi.fn();
    const subscribe = () => client.view('issue', { projectID: '7' }).subscribe(listener);
    const stop = subscribe();
    await expect.poll(() => listener.mock.lastCall).toEqual([someIssues.slice(0, 2), true]);
    const { length } = server.pulls;
    stop();
    // Longer than changes are gathered.
    await new Promise((resolve) => setTimeout(resolve, 100));
    listener.mockClear();
    subscribe();
    await expect.poll(() => listener.mock.lastCall).toEqual([someIssues.slice(0, 2), true]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(server.pulls).toHaveLength(length);
  });

  it('is dropped with a pull after its `ttl`, and can be wanted again', async () => {
    const { server, open } = await setUp();
    const client = open();
    const listener = vi.fn();
    const subscribe = () => client.view('issue', { projectID: '7' }).subscribe(listener, { ttl: 100 });
    const stop = subscribe();
    await expect.poll(() => listener.mock.lastCall).toEqual([someIssues.slice(0, 2), true]);
    stop();
    await expect.poll(() => nextWanted(client, server)).toEqual([]);
    expect(await client.query((tx) => tx.view('issue').list())).toEqual([]);
    listener.mockClear();
    subscribe();
    await expect.poll(() => listener.mock.lastCall).toEqual([someIssues.slice(0, 2), true]);
  });

  it('is wanted by `preload`, until its function is called and the `ttl` has passed', async () => {
    const { server, open } = await setUp();
    const client = open();
    const release = client.preload('issue', { projectID: '7' }, { ttl: 0 });
    await expect.poll(() => client.view('issue', { projectID: '7' }).list()).toHaveLength(2);
    release();
    release();
    await expect.poll(() => nextWanted(client, server)).toEqual([]);
    client.preload('issue', { projectID: '8' }, { ttl: 'forever' })();
    await expect.poll(() => client.view('issue', { projectID: '8' }).list()).toHaveLength(1);
  });

  it('that the server refuses says why, and others are served', async () => {
    const { server, open } = await setUp();
    server.refuse = ({ args }) => (args.projectID === '9' ? 'invalid-args' : undefined);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const client = open();
    const refused = client.view('issue', { projectID: '9' }).observe();
    const served = client.view('issue', { projectID: '7' }).observe();
    for (const { subscribe } of [refused, served]) subscribe(() => {});
    await expect.poll(() => served.get().complete).toBe(true);
    const refusal = { view: 'issue', args: { projectID: '9' }, code: 'invalid-args', message: 'It is not possible' };
    expect(refused.get()).toEqual({ rows: [], complete: false, refused: refusal });
    await client.pull();
    expect(warn.mock.calls).toEqual([['["issue",{"projectID":"9"}] is not synced (invalid-args): It is not possible']]);
    server.refuse = () => undefined;
    await client.pull();
    await expect.poll(() => refused.get()).toEqual({ rows: [], complete: true });
  });

  it('is not complete while a standby cannot answer, and is then pulled again', async () => {
    const { server, open } = await setUp();
    const client = open();
    const plain = client.view('project').observe();
    plain.subscribe(() => {});
    await expect.poll(() => plain.get()).toEqual({ rows: [{ id: '1', name: 'Garden' }], complete: true });
    server.isBehind = true;
    const observed = client.view('issue', { projectID: '7' }).observe();
    observed.subscribe(() => {});
    await expect.poll(() => server.wanted().at(-1)).toEqual(['7']);
    await client.pull();
    expect(observed.get()).toEqual({ rows: [], complete: false });
    expect(plain.get().complete).toBe(true);
    server.isBehind = false;
    await expect.poll(() => observed.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
  });

  it('shows rows that its mutators create, and those that nobody wants until they are confirmed', async () => {
    const { open } = await setUp([]);
    const client = open();
    const [seven, eight] = ['7', '8'].map((projectID) => client.view('issue', { projectID }));
    seven!.subscribe(() => {});
    await expect.poll(() => client.view('project').list()).toHaveLength(1);
    const calls = ['7', '8'].map((projectID) => client.mutate.issue.create({ id: projectID, projectID, title: 'New' }));
    await Promise.all(calls);
    expect(ids(await seven!.list())).toEqual(['7']);
    expect(ids(await eight!.list())).toEqual(['8']);
    await Promise.all(calls.map(({ confirmed }) => confirmed));
    expect(ids(await seven!.list())).toEqual(['7']);
    expect(ids(await eight!.list())).toEqual([]);
  });

  it('whose arguments equal no field needs the option `matches`', async () => {
    const { open } = await setUp();
    const search = { text: 'o' } as unknown as { projectID: string };
    const issue = (row: Issue, args: object) => row.title.includes((args as { text: string }).text);
    const client = open();
    client.preload('issue', { projectID: '7' });
    await expect.poll(() => client.view('issue', { projectID: '7' }).list()).toHaveLength(2);
    await expect(client.view('issue', search).list()).rejects.toMatchObject({
      code: 'no-matches',
      message: /matches: \{ issue: \(row, args\) => … \}/,
    });
    expect(ids(await client.view('issue', search, { matches: issue }).list())).toEqual(['b']);
    const other = open({ matches: { issue } });
    other.preload('issue', { projectID: '7' });
    await expect.poll(async () => ids(await other.view('issue', search).list())).toEqual(['b']);
  });
});

describe('a first pull in stages', () => {
  it('shows what it has, and pulls the rest immediately', async () => {
    const { server, open } = await setUp();
    server.laterViews = ['issue', 'other'];
    const client = open();
    const states: unknown[] = [];
    const [projects, issues] = [client.view('project').observe(), client.view('issue', { projectID: '7' }).observe()];
    projects.subscribe(({ complete }) => states.push(['project', complete]));
    issues.subscribe(({ complete }) => states.push(['issue', complete]));
    await expect.poll(() => issues.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
    expect(states).toEqual([
      ['project', false],
      ['issue', false],
      ['project', true],
      ['issue', true],
    ]);
    expect(server.pulls.length).toBeGreaterThanOrEqual(2);
  });

  it('leaves views without arguments incomplete that come later', async () => {
    const { server, open } = await setUp();
    server.laterViews = ['project'];
    const client = open();
    const completeness = vi.fn();
    client.view('project').subscribe((rows, complete) => completeness(rows.length, complete));
    await expect.poll(() => completeness.mock.lastCall).toEqual([1, true]);
    expect(completeness.mock.calls.filter(([, complete]) => complete)).toEqual([[1, true]]);
  });
});

describe('the tabs of a user', () => {
  it('want what any of them wants', async () => {
    const { server, open } = await setUp();
    const user = randomUUID();
    const [one, two] = [open({ user }), open({ user })];
    const stop = one.view('issue', { projectID: '7' }).subscribe(() => {}, { ttl: 0 });
    two.view('issue', { projectID: '8' }).subscribe(() => {});
    for (const tab of [one, two]) {
      await expect
        .poll(async () => {
          await tab.pull();
          return ids(await tab.query((tx) => tx.view('issue').list()));
        })
        .toEqual(['a', 'b', 'c']);
    }
    stop();
    await expect.poll(() => nextWanted(one, server)).toEqual(['8']);
  });

  it('pull again what another tab’s newer data lacks', async () => {
    const { server, open } = await setUp();
    server.pokesFirst = false;
    const user = randomUUID();
    const [one, two] = [open({ user }), open({ user })];
    const projects = one.view('project').observe();
    projects.subscribe(() => {});
    for (const tab of [one, two]) await expect.poll(() => tab.view('project').list()).toHaveLength(1);
    let answer = () => {};
    server.beforePull = new Promise((resolve) => {
      answer = resolve;
    });
    const pulled = two.pull();
    await expect.poll(() => server.beforePull === undefined).toBe(true);
    const issues = one.view('issue', { projectID: '7' }).observe();
    issues.subscribe(() => {});
    await expect.poll(() => issues.get().complete).toBe(true);
    server.projectName = 'Orchard';
    answer();
    await pulled;
    // The first tab loads what the second one stores.
    await expect.poll(() => projects.get().rows).toEqual([{ id: '1', name: 'Orchard' }]);
    await expect.poll(() => issues.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
  });

  it('keep their wants and what is complete over a reload, even offline', async () => {
    const { server, open } = await setUp();
    server.pokesFirst = false;
    const user = randomUUID();
    const before = open({ user });
    const shown = before.view('issue', { projectID: '7' }).observe();
    shown.subscribe(() => {});
    await expect.poll(() => shown.get().complete).toBe(true);
    await before.close();
    const { length } = server.pulls;
    const after = open({ user });
    after.setOnline(false);
    const [same, other] = ['7', '8'].map((projectID) => after.view('issue', { projectID }).observe());
    for (const { subscribe } of [same!, other!]) subscribe(() => {});
    await expect.poll(() => same!.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
    await expect.poll(() => other!.get()).toEqual({ rows: [], complete: false });
    expect(server.pulls).toHaveLength(length);
    after.setOnline(true);
    await expect.poll(() => other!.get()).toEqual({ rows: someIssues.slice(2), complete: true });
  });

  it('want nothing after a sign-out', async () => {
    const { server, open } = await setUp();
    server.pokesFirst = false;
    const user = randomUUID();
    const before = open({ user });
    before.preload('issue', { projectID: '7' }, { ttl: 'forever' });
    await expect.poll(() => server.wanted().at(-1)).toEqual(['7']);
    await before.signOut();
    const { length } = server.pulls;
    open({ user });
    await expect.poll(() => server.pulls.length).toBeGreaterThan(length);
    expect(server.wanted().slice(length).flat()).toEqual([]);
  });
});

describe('the stream of pokes', () => {
  it('names the wants, and is replaced when others are wanted', async () => {
    const { server, open } = await setUp();
    const client = open();
    await expect.poll(() => server.pokes.length).toBe(1);
    expect(server.pokes[0]).toMatchObject({ method: 'GET', wants: [] });
    const stop = client.view('issue', { projectID: '7' }).subscribe(() => {});
    await expect.poll(() => server.pokes.length).toBe(2);
    expect(server.pokes[1]).toMatchObject({ method: 'POST', wants: [{ view: 'issue', args: { projectID: '7' } }] });
    await expect.poll(() => server.pokes[0]!.response.destroyed).toBe(true);
    stop();
    client.preload('issue', { projectID: '7' });
    client.preload('issue', { projectID: '8' });
    await expect.poll(() => server.pokes.length).toBe(3);
    expect(server.pokes[2]!.wants).toHaveLength(2);
    server.issues.set('d', { id: 'd', projectID: '8', title: 'Bake' });
    server.pokes[2]!.response.write('data: poke\n\n');
    await expect.poll(async () => ids(await client.view('issue', { projectID: '8' }).list())).toEqual(['c', 'd']);
    expect(server.pokes).toHaveLength(3);
  });

  it('names the wants of all tabs', async () => {
    const { server, open } = await setUp();
    const user = randomUUID();
    open({ user }).preload('issue', { projectID: '7' });
    await expect.poll(() => server.wanted().at(-1)).toEqual(['7']);
    const { length } = server.pokes;
    open({ user });
    await expect.poll(() => server.pokes.length).toBeGreaterThan(length);
    expect(server.pokes.at(-1)!.wants).toEqual([{ view: 'issue', args: { projectID: '7' } }]);
  });
});
