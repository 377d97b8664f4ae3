/** Views that callers follow: requests that wait for a change, and streams of changes. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { applied, EventReader, type Ops, serveViews, type Viewed } from './viewed.js';

let served: Viewed;
const readers: EventReader[] = [];
const get: Viewed['get'] = (...request) => served.get(...request);
const run = (text: string) => served.run(text);

beforeAll(async () => {
  served = await serveViews();
});
afterAll(() => served?.close());

beforeEach(async () => {
  await run(`
    truncate note;
    insert into note values (1, 'ann', 'one', null, 1), (2, 'ann', 'two', '{"a":\n[1,\r\n2]}', 2),
      (3, 'ben', 'canary of ben', null, null)`);
});
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.cancel();
  await vi.waitFor(async () => expect(await subscribers()).toBe(0), 10_000);
});

async function subscribers(from: Viewed = served): Promise<number> {
  const { pokes } = (await (await from.get('/readyz')).json()) as { pokes: { subscribers: number } };
  return pokes.subscribers;
}

const waitForSubscribers = (count: number, from: Viewed = served) =>
  vi.waitFor(async () => expect(await subscribers(from)).toBe(count), 10_000);

/** Follows a view. Its events must be read in order. */
async function follow(path: string, headers: Readonly<Record<string, string>> = {}, from: Viewed = served) {
  const response = await from.get(path, { Accept: 'text/event-stream', ...headers });
  expect(response.headers.get('Content-Type')).toBe('text/event-stream');
  const reader = new EventReader(response);
  readers.push(reader);
  return reader;
}

const patchIn = (event: Awaited<ReturnType<EventReader['next']>>) => {
  expect(event!.event).toBe('patch');
  return JSON.parse(event!.data) as Ops['patch'];
};

describe('a request that prefers to wait', () => {
  const wait = { Prefer: 'respond-async, wait=30' };
  const since = async (path = '/api/views/note') => ((await (await get(`${path}?since=`)).json()) as Ops).cookie;

  it('is answered immediately if something has changed, or if it has no tag or cookie', async () => {
    const first = await get('/api/views/note', wait);
    expect([first.status, first.headers.get('Preference-Applied')]).toEqual([200, 'wait=30']);
    await run(`update note set body = 'new' where id = 1`);
    const condition = { 'If-None-Match': first.headers.get('ETag')! };
    expect((await get('/api/views/note', { ...wait, ...condition })).status).toBe(200);
    expect((await (await get(`/api/views/note?since=`, wait)).json()) as Ops).toMatchObject({ patch: { length: 3 } });
  });

  it('waits until something changes for the caller', async () => {
    const condition = { 'If-None-Match': (await get('/api/views/note')).headers.get('ETag')! };
    const cookie = await since();
    const row = await since('/api/views/note/1');
    let answered = 0;
    const counted = <T>(answer: T) => {
      answered++;
      return answer;
    };
    const waiting = [
      get('/api/views/note', { ...wait, ...condition }).then(counted),
      get(`/api/views/note?since=${cookie}`, wait).then(counted),
      get(`/api/views/note/1?since=${row}`, wait).then(counted),
    ] as const;
    await waitForSubscribers(3);
    // A row of another user.
    await run(`update note set body = 'new' where id = 3`);
    await run(`update note set body = 'new' where id = 2`);
    const rows = (await (await waiting[0]).json()) as { body: string }[];
    expect(rows.map(({ body }) => body)).toEqual(['one', 'new']);
    const { patch } = (await (await waiting[1]).json()) as Ops;
    expect(patch).toMatchObject([{ op: 'put', key: 'note/2' }]);
    await waitForSubscribers(1);
    expect(answered).toBe(2);
    await run('delete from note where id = 1');
    expect(((await (await waiting[2]).json()) as Ops).patch).toEqual([{ op: 'del', key: 'note/1' }]);
    await waitForSubscribers(0);
  });

  it('is answered after its time if nothing has changed', async () => {
    const tag = (await get('/api/views/note')).headers.get('ETag')!;
    const cookie = await since();
    const short = { Prefer: 'wait=0.3' };
    const [rows, ops] = await Promise.all([
      get('/api/views/note', { ...short, 'If-None-Match': tag }),
      get(`/api/views/note?since=${cookie}`, short),
    ]);
    expect([rows.status, rows.headers.get('ETag'), rows.headers.get('Preference-Applied')]).toEqual([
      304,
      tag,
      'wait=0.3',
    ]);
    expect(await ops.json()).toEqual({ cookie, patch: [] });
  });

  it('waits for a minute at most, and ignores other preferences', async () => {
    const applied = async (Prefer: string) =>
      (await get('/api/views/note', { Prefer })).headers.get('Preference-Applied');
    expect(await applied('wait=3600')).toBe('wait=60');
    for (const none of ['wait', 'wait=x', 'wait=-1', 'tx=rollback', 'waiting=3', 'wait=NaN']) {
      expect(await applied(none)).toBe(null);
    }
  });

  it('ends when its caller disconnects', async () => {
    const cookie = await since();
    const abort = new AbortController();
    const waiting = get(`/api/views/note?since=${cookie}`, wait, { signal: abort.signal });
    await waitForSubscribers(1);
    abort.abort();
    await waiting.catch(() => {});
    await waitForSubscribers(0);
  });
});

describe('a stream', () => {
  it('begins with all rows, and continues with the changes for the caller', async () => {
    const stream = await follow('/api/views/note');
    const first = await stream.next();
    expect(patchIn(first)[0]).toEqual({ op: 'clear' });
    let rows = applied(new Map(), patchIn(first));
    expect(rows).toEqual(
      new Map([
        ['note/1', { id: 1, body: 'one', data: null, big: 1 }],
        ['note/2', { id: 2, body: 'two', data: { a: [1, 2] }, big: 2 }],
      ]),
    );
    await run(`update note set body = 'canary' where id = 3`);
    await run(`update note set body = 'new', data = '[\n\r"a\\nb"]' where id = 1`);
    const second = await stream.next();
    expect(patchIn(second)).toEqual([
      { op: 'put', key: 'note/1', value: { id: 1, body: 'new', data: ['a\nb'], big: 1 } },
    ]);
    rows = applied(rows, patchIn(second));
    await run('delete from note where id = 2');
    expect(patchIn(await stream.next())).toEqual([{ op: 'del', key: 'note/2' }]);
  });

  it('has only the changes of a row if it follows a row', async () => {
    const stream = await follow('/api/views/note/2');
    expect(patchIn(await stream.next())).toMatchObject([{ op: 'clear' }, { op: 'put', key: 'note/2' }]);
    await run(`update note set body = 'new' where id = 1`);
    await run('delete from note where id = 2');
    expect(patchIn(await stream.next())).toEqual([{ op: 'del', key: 'note/2' }]);
    await run(`insert into note values (2, 'ann', 'again')`);
    expect(patchIn(await stream.next())).toMatchObject([{ op: 'put', key: 'note/2', value: { body: 'again' } }]);
  });

  it('resumes after its last event, and starts over after an invalid ID', async () => {
    const stream = await follow('/api/views/note');
    const { id } = (await stream.next())!;
    await stream.cancel();
    await run(`update note set body = 'new' where id = 1`);
    for (const [path, headers] of [
      ['/api/views/note', { 'Last-Event-ID': id }],
      ['/api/views/note?since=x', { 'Last-Event-ID': id }],
      [`/api/views/note?since=${id}`, {}],
    ] as const) {
      const resumed = await follow(path, headers);
      expect(patchIn(await resumed.next())).toMatchObject([{ op: 'put', key: 'note/1' }]);
    }
    const restarted = await follow('/api/views/note', { 'Last-Event-ID': 'x' });
    expect(patchIn(await restarted.next()).map(({ op }) => op)).toEqual(['clear', 'put', 'put']);
  });

  it('begins with the first change if nothing is new', async () => {
    const { cookie } = (await (await get('/api/views/note?since=')).json()) as Ops;
    const stream = await follow(`/api/views/note?since=${cookie}`);
    await run(`update note set body = 'new' where id = 1`);
    expect(patchIn(await stream.next())).toMatchObject([{ op: 'put', key: 'note/1' }]);
  });

  it('is complete with so many rows that they take several pieces', async () => {
    await run(`insert into note select i, 'ann', repeat('größe', 200) from generate_series(1001, 3000) i`);
    const stream = await follow('/api/views/note');
    expect(applied(new Map(), patchIn(await stream.next())).size).toBe(2002);
  });

  it('is refused like any request if it cannot begin', async () => {
    const refused = async (path: string, headers = {}) =>
      (await get(path, { Accept: 'text/event-stream', ...headers })).status;
    expect(await refused('/api/views/nothing')).toBe(404);
    expect(await refused('/api/views/note', { Authorization: '' })).toBe(401);
  });
});

describe('a server', () => {
  it('limits the requests that wait or follow, in total and for each user', async () => {
    const small = await serveViews({ pokes: { maxStreams: 3, maxStreamsPerUser: 2 } });
    try {
      const { cookie } = (await (await small.get('/api/views/note?since=')).json()) as Ops;
      const ben = { Authorization: 'Bearer ben' };
      const one = await follow('/api/views/note', {}, small);
      const waiting = small.get(`/api/views/note?since=${cookie}`, { Prefer: 'wait=30' });
      await waitForSubscribers(2, small);
      const statusOf = async (headers = {}) =>
        (await small.get('/api/views/note', { Accept: 'text/event-stream', ...headers })).status;
      expect(await statusOf()).toBe(429);
      await follow('/api/views/note', ben, small);
      expect(await statusOf({ Authorization: 'Bearer cam' })).toBe(503);
      // A request that does not wait needs no permit.
      expect((await small.get('/api/views/note')).status).toBe(200);
      await one.cancel();
      await waitForSubscribers(2, small);
      await follow('/api/views/note', {}, small);
      small.sync.drain();
      expect(await (await waiting).json()).toEqual({ cookie, patch: [] });
      expect(await statusOf()).toBe(503);
      for (const reader of readers) for (let event = await reader.next(); event; ) event = await reader.next();
    } finally {
      await small.close();
    }
  });

  it('ends a stream, and a wait, when the authorization expires', async () => {
    let expiresAt: Date | undefined;
    const brief = await serveViews({
      authenticate: () => ({ userID: 'ann', ...(expiresAt && { expiresAt }) }),
    } as never);
    try {
      const { cookie } = (await (await brief.get('/api/views/note?since=')).json()) as Ops;
      expiresAt = new Date(Date.now() + 500);
      const stream = await follow('/api/views/note', {}, brief);
      const waiting = brief.get(`/api/views/note?since=${cookie}`, { Prefer: 'wait=30' });
      expect(await stream.next()).toBeDefined();
      expect(await stream.next()).toBeUndefined();
      expect(await (await waiting).json()).toEqual({ cookie, patch: [] });
    } finally {
      await brief.close();
    }
  });
});
