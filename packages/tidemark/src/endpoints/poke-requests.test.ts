import { describe, expect, it, vi } from 'vitest';
import { readText, setUpPokes } from '../../../../test/integration/endpoints/poke-subscribers.js';
import { expectProblem } from '../../../../test/integration/endpoints/requests.js';
import { Problem } from '../errors.js';

describe('a poke request', () => {
  it('subscribes with the parameters of its query and the user of its authorization', async () => {
    const { open, requests } = setUpPokes({ user: { userID: 'ann' } });
    await open('clientGroupID=g%201&profileID=&schemaVersion=v2&more=1');
    await open('clientGroupID=g&profileID=p');
    expect(requests).toEqual([
      { ctx: { userID: 'ann' }, request: { clientGroupID: 'g 1', profileID: '', schemaVersion: 'v2' } },
      { ctx: { userID: 'ann' }, request: { clientGroupID: 'g', profileID: 'p', schemaVersion: '' } },
    ]);
  });

  it('is answered with an event stream that proxies do not buffer', async () => {
    const response = await setUpPokes().open(undefined, { headers: { 'X-Sync-RequestID': 'r-1-0' } });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/event-stream',
      'cache-control': 'private, no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'r-1-0',
    });
  });

  it('is refused without an authorization, before its query is checked', async () => {
    const { open, subscribers } = setUpPokes({ user: null });
    const response = await open('');
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
    await expectProblem(response, 401, 'unauthenticated');
    expect(subscribers.size).toBe(0);
  });

  it.each([
    ['clientGroupID', 'profileID=p'],
    ['clientGroupID', 'clientGroupID=&profileID=p'],
    ['clientGroupID', `clientGroupID=${'g'.repeat(257)}&profileID=p`],
    ['clientGroupID', 'clientGroupID=%00&profileID=p'],
    ['profileID', 'clientGroupID=g'],
    ['profileID', `clientGroupID=g&profileID=${'p'.repeat(257)}`],
    ['profileID', 'clientGroupID=g&profileID=a%00'],
    ['schemaVersion', `clientGroupID=g&profileID=p&schemaVersion=${'v'.repeat(1025)}`],
    ['schemaVersion', 'clientGroupID=g&profileID=p&schemaVersion=%00'],
  ])('is refused for an invalid %s: %s', async (name, query) => {
    const { open, subscribers } = setUpPokes();
    const { detail } = await expectProblem(await open(query), 400, 'malformed-request');
    expect(detail.startsWith(`${name} `)).toBe(true);
    expect(subscribers.size).toBe(0);
  });

  it.each(['HEAD', 'PUT', 'DELETE'])('is refused with the method %s', async (method) => {
    const response = await setUpPokes().open(undefined, { method });
    expect(response.headers.get('Allow')).toBe('GET, POST');
    expect(response.status).toBe(405);
  });

  it('is refused beyond the limit of streams until another stream ends', async () => {
    const { open, subscribers } = setUpPokes({ limit: 2, perUser: 10 });
    const [first] = await Promise.all([open(), open()]);
    const refused = await open();
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    await expectProblem(refused, 503, 'unavailable');
    await readText(first!).cancel();
    expect((await open()).status).toBe(200);
    expect(subscribers.size).toBe(2);
  });

  it("is refused beyond the user's limit of streams until another of them ends", async () => {
    const { open, subscribers } = setUpPokes({ limit: 10, perUser: 2 });
    const [first] = await Promise.all([open(), open()]);
    await expectProblem(await open(), 429, 'too-many-requests');
    await readText(first!).cancel();
    expect((await open()).status).toBe(200);
    expect(subscribers.size).toBe(2);
  });

  it('fails if it cannot subscribe, and then does not count towards the limit', async () => {
    let failure: Error | undefined = new Problem('unavailable', 'No database');
    const { open, lines, subscribers } = setUpPokes({
      limit: 1,
      async before() {
        if (failure) throw failure;
      },
    });
    await expectProblem(await open(), 503, 'unavailable');
    failure = new Error('secret');
    const { detail } = await expectProblem(await open(), 500, 'internal');
    expect(detail).not.toContain('secret');
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { error: { message: 'secret' } } },
    ]);
    failure = undefined;
    expect((await open()).status).toBe(200);
    expect(subscribers.size).toBe(1);
  });

  it.each([
    ['a number', 1_900_000_000_000],
    ['a text', '2030-01-01'],
    ['an invalid date', new Date('nonsense')],
  ])('causes an internal error if its authorization expires at %s', (_, expiresAt) => expectUnusable(expiresAt));
});

async function expectUnusable(expiresAt: unknown): Promise<void> {
  const { open, lines, subscribers } = setUpPokes({ user: { userID: 'u', expiresAt } as { userID: string } });
  await expectProblem(await open(), 500, 'internal');
  expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { error: { message: expect.stringContaining('expiresAt') } } },
  ]);
  expect(subscribers.size).toBe(0);
}

describe('close', () => {
  it('ends all streams, each with a line in the log, and refuses new ones', async () => {
    const { open, pokes, subscribers, ends } = setUpPokes();
    const readers = (await Promise.all([open(), open()])).map(readText);
    for (const { next } of readers) await next();
    pokes.close();
    expect(await Promise.all(readers.map(({ next }) => next()))).toEqual([null, null]);
    expect(subscribers.size).toBe(0);
    expect(ends()).toEqual(['complete', 'complete']);
    const refused = await open();
    expect(refused.headers.get('Retry-After')).toBe('1');
    await expectProblem(refused, 503, 'unavailable');
  });

  it('ends a stream that has not subscribed yet', async () => {
    let listen = () => {};
    const listening = new Promise<void>((resolve) => {
      listen = resolve;
    });
    const before = vi.fn(() => listening);
    const { open, pokes, subscribers, ends } = setUpPokes({ before });
    const opening = open();
    await vi.waitFor(() => expect(before).toHaveBeenCalled());
    pokes.close();
    listen();
    expect(await (await opening).text()).toBe('');
    expect(subscribers.size).toBe(0);
    expect(ends()).toEqual(['complete']);
  });
});
