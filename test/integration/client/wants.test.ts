/** Instances of views with arguments: what clients want, and what they have. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hostileStores } from './hostile-stores.js';
import { type Connection, type Issue, type IssuesClient, maxWants, useIssues } from './wants-application.js';

const connect = useIssues();

const someIssues: readonly Issue[] = [
  { id: 'a', projectID: '7', title: 'Dig' },
  { id: 'b', projectID: '7', title: 'Sow' },
  { id: 'c', projectID: '8', title: 'Cook' },
];

/** Pulls, and returns the projects whose issues the last pull wanted. */
async function nextWanted(client: IssuesClient, server: Connection): Promise<unknown[]> {
  await client.pull();
  return server.wanted.at(-1)!;
}

/** Waits until a client has everything and no longer pulls. Returns the cookie of what it has. */
async function synced(client: IssuesClient, server: Connection): Promise<unknown> {
  await expect.poll(() => client.view('label').list()).toHaveLength(1);
  await server.settled();
  await client.pull();
  await server.settled();
  return server.pulls.at(-1)!.cookie;
}

/** Returns a promise with the function that resolves it. */
function signal(): { readonly given: Promise<void>; give(): void } {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

const ids = (rows: readonly Issue[] | undefined) => rows?.map(({ id }) => id);

describe('an instance of a view', () => {
  it('is pulled while something subscribes to it, and complete from then on', async () => {
    const { server, open } = await connect(someIssues);
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
    expect(server.wanted.at(-1)!.toSorted()).toEqual(['7', '8']);
    stop();
  });

  it('is pulled again if the connection breaks', async () => {
    const { server, open, cut } = await connect(someIssues);
    const { given, give } = signal();
    server.hold = () => given;
    const issues = open().view('issue', { projectID: '7' }).observe();
    issues.subscribe(() => {});
    await expect.poll(() => server.pulls.length).toBeGreaterThan(0);
    cut();
    give();
    await expect.poll(() => issues.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
  });

  it('has only the rows that belong to it, for each way to read them', async () => {
    const { open } = await connect(someIssues);
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
    const { server, open } = await connect(someIssues);
    const client = open({ matches: { issue: () => true } });
    const args = [
      { projectID: '7', open: true },
      { open: true, projectID: '7' },
    ];
    for (const each of args) client.view('issue', each).subscribe(() => {});
    await expect.poll(() => server.pulls.length).toBeGreaterThan(0);
    expect(server.pulls[0]!.wants).toEqual([{ view: 'issue', args: { projectID: '7', open: true } }]);
  });

  it('is complete if the server has nothing new for it', async () => {
    const { server, sql, open } = await connect(someIssues);
    const client = open();
    client.view('issue', { projectID: '7' }).subscribe(() => {});
    const cookie = await synced(client, server);
    // The same project for the server, but another instance.
    const alias = client.view('issue', { projectID: 7 }).observe();
    alias.subscribe(() => {});
    await expect.poll(() => alias.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
    await client.pull();
    // The client does not pull again and again.
    await server.settled();
    expect(server.pulls.at(-1)!.cookie).toEqual(cookie);
    await sql(`insert into issue values ('d', '7', 'Reap')`);
    await expect.poll(() => ids(alias.get().rows)).toEqual(['a', 'b', 'd']);
    expect(alias.get().complete).toBe(true);
  });

  it('costs nothing if it is wanted again within its `ttl`', async () => {
    const { server, open } = await connect(someIssues);
    const client = open();
    const listener = vi.fn();
    const subscribe = () => client.view('issue', { projectID: '7' }).subscribe(listener, { ttl: 60_000 });
    const stop = subscribe();
    const cookie = await synced(client, server);
    stop();
    await client.pull();
    subscribe();
    expect(await synced(client, server)).toEqual(cookie);
    expect(listener.mock.lastCall).toEqual([someIssues.slice(0, 2), true]);
    for (const { wants } of [...server.pulls, ...server.pokes]) expect(wants).toHaveLength(1);
  });

  it('is dropped with a pull after its `ttl`, and can be wanted again', async () => {
    const { server, open } = await connect(someIssues);
    const client = open();
    const listener = vi.fn();
    const subscribe = () => client.view('issue', { projectID: '7' }).subscribe(listener, { ttl: 100 });
    const stop = subscribe();
    await expect.poll(() => listener.mock.lastCall).toEqual([someIssues.slice(0, 2), true]);
    stop();
    await expect.poll(() => nextWanted(client, server)).toEqual([]);
    await expect.poll(() => client.query((tx) => tx.view('issue').list())).toEqual([]);
    listener.mockClear();
    subscribe();
    await expect.poll(() => listener.mock.lastCall).toEqual([someIssues.slice(0, 2), true]);
  });

  it('is wanted by `preload`, until its function is called and the `ttl` has passed', async () => {
    const { server, open } = await connect(someIssues);
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
    const { open } = await connect(someIssues);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const client = open();
    const refused = client.view('issue', { projectID: '' }).observe();
    const served = client.view('issue', { projectID: '7' }).observe();
    for (const { subscribe } of [refused, served]) subscribe(() => {});
    await expect.poll(() => served.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
    const message = expect.stringMatching(/^projectID: /);
    const refusal = { view: 'issue', args: { projectID: '' }, code: 'invalid-args', message };
    await expect.poll(() => refused.get()).toEqual({ rows: [], complete: false, refused: refusal });
    await client.pull();
    const reason = refused.get().refused!.message;
    expect(warn.mock.calls).toEqual([[`["issue",{"projectID":""}] is not synced (invalid-args): ${reason}`]]);
  });

  it('that the server has refused is pulled again once there is room for it', async () => {
    const { open } = await connect(someIssues);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const client = open();
    const numbers = Array.from({ length: maxWants }, (_, i) => `${i + 1}`);
    const [release] = numbers.map((projectID) => client.preload('issue', { projectID }, { ttl: 0 }));
    const last = client.view('issue', { projectID: '8' }).observe();
    last.subscribe(() => {});
    await expect.poll(() => last.get()).toMatchObject({ complete: false, refused: { code: 'too-many-wants' } });
    release!();
    await expect.poll(() => last.get(), { timeout: 5_000 }).toEqual({ rows: someIssues.slice(2), complete: true });
  });

  it('is not complete while a standby cannot answer, and is then pulled again', async () => {
    const { server, open } = await connect(someIssues);
    const client = open();
    const plain = client.view('project').observe();
    plain.subscribe(() => {});
    await expect.poll(() => client.view('label').list()).toHaveLength(1);
    server.isBehind = true;
    const observed = client.view('issue', { projectID: '7' }).observe();
    observed.subscribe(() => {});
    await expect.poll(() => server.pokes.at(-1)?.wants).toHaveLength(1);
    await client.pull();
    await server.settled();
    const { length } = server.pulls;
    await expect.poll(() => server.pulls.length).toBeGreaterThan(length + 1);
    expect(server.wanted.at(-1)).toEqual(['7']);
    expect(observed.get()).toEqual({ rows: [], complete: false });
    expect(plain.get()).toEqual({ rows: [{ id: '1', name: 'Garden' }], complete: true });
    server.isBehind = false;
    await expect.poll(() => observed.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
  });

  it('shows rows that its mutators create, and those that nobody wants until they are confirmed', async () => {
    const { open } = await connect([]);
    const client = open();
    const [seven, eight] = ['7', '8'].map((projectID) => client.view('issue', { projectID }));
    seven!.subscribe(() => {});
    await expect.poll(() => client.view('label').list()).toHaveLength(1);
    client.setOnline(false);
    const calls = ['7', '8'].map((projectID) => client.mutate.issue.create({ id: projectID, projectID, title: 'New' }));
    const untitled = client.mutate.issue.create({ id: 'untitled', projectID: '7', title: '' });
    await Promise.all([...calls, untitled]);
    expect(ids(await seven!.list())).toEqual(['7', 'untitled']);
    expect(ids(await eight!.list())).toEqual(['8']);
    client.setOnline(true);
    await Promise.all(calls.map(({ confirmed }) => confirmed));
    await expect(untitled.confirmed).rejects.toMatchObject({ code: 'refused', message: 'A title is missing' });
    expect(ids(await seven!.list())).toEqual(['7']);
    expect(ids(await eight!.list())).toEqual([]);
  });

  it('whose arguments equal no field needs the option `matches`', async () => {
    const { open } = await connect(someIssues);
    const search = { text: 'o' } as unknown as { projectID: string };
    const issue = (row: Issue, args: object) => row.title.includes((args as { text: string }).text);
    const client = open();
    client.preload('issue', { projectID: '7' });
    await expect.poll(() => client.view('issue', { projectID: '7' }).list()).toHaveLength(2);
    await expect(client.view('issue', search).list()).rejects.toMatchObject({
      code: 'no-matches',
      message: expect.stringContaining('matches: { issue: (row, args) => … }'),
    });
    expect(ids(await client.view('issue', search, { matches: issue }).list())).toEqual(['b']);
    const other = open({ matches: { issue } });
    other.preload('issue', { projectID: '7' });
    await expect.poll(async () => ids(await other.view('issue', search).list())).toEqual(['b']);
  });
});

describe('a first pull in stages', () => {
  it('shows what it has, and pulls the rest immediately', async () => {
    const { server, open } = await connect(someIssues);
    const { given, give } = signal();
    server.hold = ({ cookie }) => (cookie ? given : undefined);
    const client = open();
    const [projects, issues, labels] = [
      client.view('project').observe(),
      client.view('issue', { projectID: '7' }).observe(),
      client.view('label').observe(),
    ];
    const completeLabels: unknown[] = [];
    labels.subscribe(({ rows, complete }) => complete && completeLabels.push(rows));
    for (const { subscribe } of [projects, issues]) subscribe(() => {});
    await expect.poll(() => projects.get()).toEqual({ rows: [{ id: '1', name: 'Garden' }], complete: true });
    for (const { get } of [issues, labels]) await expect.poll(get).toEqual({ rows: [], complete: false });
    give();
    await expect.poll(() => issues.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
    await expect.poll(() => labels.get()).toEqual({ rows: [{ id: 'urgent' }], complete: true });
    expect(completeLabels).toEqual([[{ id: 'urgent' }]]);
  });

  it('pulls the rest once a standby that cannot answer in between can', async () => {
    const { server, open } = await connect(someIssues);
    const { given, give } = signal();
    server.hold = ({ cookie }) => (cookie ? given : undefined);
    const client = open();
    const labels = client.view('label').observe();
    labels.subscribe(() => {});
    await expect.poll(() => client.view('project').list()).toHaveLength(1);
    await expect.poll(() => server.pulls.length).toBe(2);
    server.isBehind = true;
    give();
    await expect.poll(() => server.pulls.length).toBeGreaterThan(2);
    expect(labels.get().complete).toBe(false);
    server.isBehind = false;
    await expect.poll(() => labels.get()).toEqual({ rows: [{ id: 'urgent' }], complete: true });
  });
});

describe('the tabs of a user', () => {
  it('want what any of them wants', async () => {
    const { server, open } = await connect(someIssues);
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
    const { server, sql, open } = await connect(someIssues);
    const user = randomUUID();
    const stores = hostileStores();
    const one = open({ user, kvStore: stores });
    const two = open({ user, kvStore: hostileStores(), auth: 'two' });
    for (const tab of [one, two]) await synced(tab, server);
    // The second tab loads nothing that the first one pulls.
    vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    stores.behaviour = 'is full';
    const [early, late] = [signal(), signal()];
    server.hold = ({ authorization, wants }) => (authorization && wants.length === 1 ? early.given : undefined);
    const eight = two.view('issue', { projectID: '8' }).observe();
    eight.subscribe(() => {});
    await expect
      .poll(() => server.pulls.filter(({ authorization, wants }) => authorization && wants.length === 1))
      .toHaveLength(1);
    const seven = one.view('issue', { projectID: '7' }).observe();
    seven.subscribe(() => {});
    await expect.poll(() => seven.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
    await server.settled();
    // The second tab's answer is the newest, and lacks what the first one wants.
    await sql(`insert into issue values ('e', '9', 'Mow')`);
    server.hold = () => late.given;
    early.give();
    await expect.poll(() => eight.get()).toEqual({ rows: someIssues.slice(2), complete: true });
    expect(await two.view('issue', { projectID: '7' }).list()).toEqual([]);
    // The first tab loads what the second one stores, which pulls no more.
    stores.behaviour = 'works';
    await two.close();
    await expect.poll(() => seven.get()).toEqual({ rows: [], complete: false });
    late.give();
    await expect.poll(() => seven.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
  });

  it('keep their wants and what is complete over a reload, even offline', async () => {
    const { server, open } = await connect(someIssues);
    const user = randomUUID();
    const before = open({ user });
    const shown = before.view('issue', { projectID: '7' }).observe();
    shown.subscribe(() => {});
    await expect.poll(() => shown.get().complete).toBe(true);
    await before.close();
    await server.settled();
    const { length } = server.pulls;
    const { given, give } = signal();
    server.hold = () => given;
    const after = open({ user });
    await expect.poll(() => server.wanted.slice(length).at(-1)).toEqual(['7']);
    after.setOnline(false);
    const [same, other] = ['7', '8'].map((projectID) => after.view('issue', { projectID }).observe());
    for (const { subscribe } of [same!, other!]) subscribe(() => {});
    await expect.poll(() => same!.get()).toEqual({ rows: someIssues.slice(0, 2), complete: true });
    await expect.poll(() => other!.get()).toEqual({ rows: [], complete: false });
    give();
    after.setOnline(true);
    await expect.poll(() => other!.get()).toEqual({ rows: someIssues.slice(2), complete: true });
  });

  it('want nothing after a sign-out', async () => {
    const { server, open } = await connect(someIssues);
    const user = randomUUID();
    const before = open({ user });
    before.preload('issue', { projectID: '7' }, { ttl: 'forever' });
    await expect.poll(() => server.wanted.at(-1)).toEqual(['7']);
    await before.signOut();
    await server.settled();
    const { length } = server.pulls;
    const after = open({ user });
    await expect.poll(() => after.view('label').list()).toHaveLength(1);
    expect(server.wanted.slice(length).flat()).toEqual([]);
  });
});

describe('the stream of pokes', () => {
  it('names the wants, and is replaced when others are wanted', async () => {
    const { server, sql, open } = await connect(someIssues);
    const client = open();
    await expect.poll(() => server.pokes.at(-1)).toMatchObject({ method: 'GET', wants: [] });
    const first = server.pokes.at(-1)!;
    const stop = client.view('issue', { projectID: '7' }).subscribe(() => {});
    const seven = { view: 'issue', args: { projectID: '7' } };
    await expect.poll(() => server.pokes.at(-1)).toMatchObject({ method: 'POST', wants: [seven] });
    await expect.poll(() => first.signal.aborted).toBe(true);
    stop();
    client.preload('issue', { projectID: '7' });
    client.preload('issue', { projectID: '8' });
    await expect.poll(() => server.pokes.at(-1)?.wants).toHaveLength(2);
    await expect.poll(async () => ids(await client.view('issue', { projectID: '8' }).list())).toEqual(['c']);
    await server.settled();
    await sql(`insert into issue values ('d', '8', 'Bake')`);
    await expect.poll(async () => ids(await client.view('issue', { projectID: '8' }).list())).toEqual(['c', 'd']);
    expect(new Set(server.pokes.map(({ wants }) => JSON.stringify(wants))).size).toBe(3);
  });

  it('names the wants of all tabs', async () => {
    const { server, open } = await connect(someIssues);
    const user = randomUUID();
    open({ user }).preload('issue', { projectID: '7' });
    await expect.poll(() => server.wanted.at(-1)).toEqual(['7']);
    open({ user }).preload('issue', { projectID: '8' });
    const projects = () => server.pokes.at(-1)?.wants.map(({ args }) => args.projectID);
    await expect.poll(() => projects()?.toSorted()).toEqual(['7', '8']);
  });
});

describe('whether the server has answered', () => {
  it('is known for each instance, and for views of later stages', async () => {
    const { server, open } = await connect(someIssues);
    const { given, give } = signal();
    server.hold = ({ cookie }) => (cookie === null ? undefined : given);
    const client = open();
    const answered = {
      project: client.view('project').observeAnswered(),
      issue: client.view('issue', { projectID: '7' }).observeAnswered(),
      other: client.view('issue', { projectID: '8' }).observeAnswered(),
    };
    for (const each of Object.values(answered)) each.subscribe(() => {});
    const states = () => Object.values(answered).map((each) => each.get());
    client.view('issue', { projectID: '7' }).subscribe(() => {});
    await expect.poll(states).toEqual([true, false, false]);
    give();
    await expect.poll(states).toEqual([true, true, false]);
    client.view('issue', { projectID: '8' }).subscribe(() => {});
    await expect.poll(states).toEqual([true, true, true]);
  });

  it('stays false while a standby that lags answers', async () => {
    const { server, open } = await connect(someIssues);
    server.isBehind = true;
    const client = open();
    const isAnswered = client.view('project').observeAnswered();
    isAnswered.subscribe(() => {});
    await expect.poll(() => server.pulls.length).toBeGreaterThan(1);
    expect(isAnswered.get()).toBe(false);
    server.isBehind = false;
    await expect.poll(() => isAnswered.get()).toBe(true);
  });
});
