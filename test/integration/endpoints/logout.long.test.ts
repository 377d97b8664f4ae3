/** Everything that is held open for a user ends when the user's authorization is withdrawn, on two servers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { maxAgeMs } from '../../../packages/tidemark/src/endpoints/subscriptions/authorization.js';
import { Problem } from '../../../packages/tidemark/src/errors.js';
import { createSessions, type OpenStream, type SessionServer, type Sessions, soon } from './sessions.js';

let sessions: Sessions;
beforeEach(async () => {
  sessions = await createSessions();
  await sessions.logIn('phone of ann', 'ann');
  await sessions.logIn('phone of ben', 'ben');
});
afterEach(() => sessions.close());

const phone = 'phone of ann';
const logOut = () => sessions.run(`delete from session where user_id = 'ann'`);
const two = async (options?: Parameters<Sessions['start']>[0]) =>
  [await sessions.start(options), await sessions.start(options)] as const;

/** Opens everything that a server can hold open for Ann. */
async function hold(server: SessionServer) {
  const onEnd = vi.fn();
  await server.sync.onPoke({ userID: 'ann', role: null }, () => {}, {}, onEnd);
  return {
    pokes: await server.pokes(phone),
    notes: await server.notes(phone),
    waiting: await server.wait(phone),
    onEnd,
  };
}

async function expectRefused(server: SessionServer) {
  const query = 'clientGroupID=g&profileID=p';
  for (const path of [`/sync/poke?${query}`, `/api/views/note?${query}`]) {
    expect((await server.send(path, phone)).status).toBe(401);
  }
}

/** Checks that a stream is still open, because it delivers a write. */
const delivers = async (stream: OpenStream, owner: string, body: string) => {
  await sessions.write(owner, body);
  await vi.waitFor(() => expect(stream.text()).toContain(body), 10_000);
};

const problemOf = async (answer: Promise<Response>) => {
  const response = await soon(answer, 'The request waits on');
  return response.ok ? [response.status] : [response.status, ((await response.json()) as { code: string }).code];
};

const refusal = [401, 'unauthenticated'];

describe('a disconnected user', () => {
  it('loses all streams and waiting requests on every server, gets no later rows, and is refused', async () => {
    const servers = await two();
    const subscriptions = [await hold(servers[0]), await hold(servers[1])];
    const others = [await servers[0].notes('phone of ben'), await servers[1].notes('phone of ben')];
    const othersPokes = await servers[1].pokes('phone of ben');
    await logOut();
    await servers[0].sync.disconnect('ann');
    await sessions.write('ann', 'canary');
    for (const { pokes, notes, waiting, onEnd } of subscriptions) {
      await Promise.all([pokes.ended(), notes.ended()]);
      expect(await problemOf(waiting.answer)).toEqual(refusal);
      await vi.waitFor(() => expect(onEnd).toHaveBeenCalledTimes(1), 10_000);
      expect(notes.text()).not.toContain('canary');
    }
    for (const server of servers) await expectRefused(server);
    await delivers(others[0]!, 'ben', 'one');
    await delivers(others[1]!, 'ben', 'two');
    await vi.waitFor(() => expect(othersPokes.text().split('data: poke').length).toBeGreaterThan(2), 10_000);
    // Only Ben's streams are left.
    expect([await servers[0].subscribers(), await servers[1].subscribers()]).toEqual([1, 2]);
  });

  it('can return, and the earlier disconnect does not end the new streams', async () => {
    const [one, other] = await two();
    const stream = await other.notes(phone);
    await one.sync.disconnect('ann');
    await stream.ended();
    const next = [await one.notes(phone), await other.notes(phone)];
    for (const [i, open] of next.entries()) await delivers(open, 'ann', `note ${i}`);
    await sessions.write('ben', 'another');
    for (const [i, open] of next.entries()) await delivers(open, 'ann', `again ${i}`);
  });

  it('can be named by the transaction that deletes the session', async () => {
    const server = await sessions.start();
    const [stream, pokes] = [await server.notes(phone), await server.pokes(phone)];
    await sessions.run(`begin; delete from session where user_id = 'ann'; select tidemark.disconnect('ann'); rollback`);
    await delivers(stream, 'ann', 'still there');
    await sessions.run(`begin; delete from session where user_id = 'ann'; select tidemark.disconnect('ann'); commit`);
    await Promise.all([stream.ended(), pokes.ended()]);
  });

  it('is refused if the session ended between `authenticate` and the subscription', async () => {
    const server = await sessions.start();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let found = 0;
    const paths = ['/sync/poke?clientGroupID=g&profileID=p', '/api/views/note?profileID=p'];
    server.afterSession = async () => {
      found++;
      await released;
    };
    const opening = paths.map((path) => server.send(path, phone, { headers: { Accept: 'text/event-stream' } }));
    await vi.waitFor(() => expect(found).toBe(2), 10_000);
    await logOut();
    await server.sync.disconnect('ann');
    await sessions.write('ann', 'canary');
    server.afterSession = async () => {};
    release();
    for (const answer of opening) expect(await problemOf(answer)).toEqual(refusal);
    expect(await server.subscribers()).toBe(0);
  });

  it('must have a valid ID', async () => {
    const server = await sessions.start();
    for (const userID of ['', '\0', 'x'.repeat(1025)]) {
      await expect(server.sync.disconnect(userID)).rejects.toThrow(TypeError);
    }
    await expect(sessions.run(`select tidemark.disconnect('')`)).rejects.toThrow('needs the ID of a user');
  });

  it('is disconnected on this server even if the schema is too old to notify others', async () => {
    const server = await sessions.start();
    const stream = await server.notes(phone);
    await sessions.run('drop function tidemark.disconnect');
    await expect(server.sync.disconnect('ann')).rejects.toThrow('tidemark migrate');
    await stream.ended();
  });
});

describe('a session that has ended', () => {
  it('ends streams and waiting requests on each server at the next authentication', async () => {
    const servers = await two({ reauthenticationSeconds: 1 });
    const subscriptions = [await hold(servers[0]), await hold(servers[1])];
    const other = await servers[1].notes('phone of ben');
    await logOut();
    for (const { pokes, notes, waiting } of subscriptions) {
      await Promise.all([pokes.ended(), notes.ended()]);
      expect(await problemOf(waiting.answer)).toEqual(refusal);
    }
    await delivers(other, 'ben', 'one');
    // A hook has no request to authenticate again.
    expect(subscriptions.map(({ onEnd }) => onEnd.mock.calls.length)).toEqual([0, 0]);
  });

  it('gets no rows written more than a few seconds later, however seldom `authenticate` is called', async () => {
    const server = await sessions.start();
    const [stream, waiting] = [await server.notes(phone), await server.wait(phone)];
    await delivers(await server.notes(phone), 'ann', 'before');
    expect((await waiting.answer).status).toBe(200);
    const later = await server.wait(phone);
    await logOut();
    await sleep(maxAgeMs);
    await sessions.write('ann', 'canary');
    expect(await problemOf(later.answer)).toEqual(refusal);
    await stream.ended();
    expect(stream.text()).toContain('before');
    expect(stream.text()).not.toContain('canary');
  });

  it('ends a stream if the request now belongs to the session of another user', async () => {
    const server = await sessions.start({ reauthenticationSeconds: 1 });
    const stream = await server.notes(phone);
    await sessions.run(`update session set user_id = 'ben' where user_id = 'ann'`);
    await stream.ended();
  });
});

describe('a stream that stays open', () => {
  it('counts as one request of its user, however often `authenticate` is called', async () => {
    const server = await sessions.start({ reauthenticationSeconds: 0.05, rates: { perUser: 3 } });
    const open = [await server.notes(phone), await server.pokes(phone)];
    await vi.waitFor(() => expect(server.authentications.get(phone)).toBeGreaterThan(20), 10_000);
    const paths = ['/api/views/note?profileID=p', '/sync/poke?clientGroupID=g&profileID=p'];
    expect([...server.requests]).toEqual(paths.map((path) => `GET http://localhost${path}`));
    expect((await server.send('/api/views/note?profileID=p', phone)).status).toBe(200);
    expect((await server.send('/api/views/note?profileID=p', phone)).status).toBe(429);
    await delivers(open[0]!, 'ann', 'one');
    expect(await server.subscribers()).toBe(2);
  });

  it('uses the latest context of `authenticate`, so a lost role shows no more rows', async () => {
    await sessions.logIn('auditor', 'eve', 'auditor');
    const server = await sessions.start({ reauthenticationSeconds: 0.1 });
    const stream = await server.notes('auditor');
    await delivers(stream, 'ann', 'seen');
    const before = server.authentications.get('auditor')!;
    await sessions.run(`update session set role = null where token = 'auditor'`);
    await vi.waitFor(() => expect(server.authentications.get('auditor')).toBeGreaterThan(before + 2), 10_000);
    await sessions.write('ann', 'canary');
    await delivers(stream, 'eve', 'mine');
    expect(stream.text()).not.toContain('canary');
  });

  it.each([
    ['an error', () => new Error('no connection')],
    ['a limit', () => new Problem('too-many-requests', 'Too many')],
  ])(
    'holds rows back while `authenticate` fails with %s, and sends them when it succeeds again',
    async (_, failure) => {
      const server = await sessions.start({ reauthenticationSeconds: 0.1 });
      const [stream, waiting] = [await server.notes(phone), await server.wait(phone)];
      server.afterSession = () => Promise.reject(failure());
      await sleep(maxAgeMs);
      await sessions.write('ann', 'late');
      const before = server.authentications.get(phone)!;
      await vi.waitFor(() => expect(server.authentications.get(phone)).toBeGreaterThan(before + 10), 10_000);
      expect(stream.text()).not.toContain('late');
      expect(server.lines).toContainEqual(
        expect.objectContaining({ level: 'warn', message: expect.stringContaining('authenticate has failed') }),
      );
      server.afterSession = async () => {};
      await vi.waitFor(() => expect(stream.text()).toContain('late'), 10_000);
      expect(await (await waiting.answer).text()).toContain('late');
    },
  );
});
