import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from '../../../../bench/scenario.js';
import { mutation, type Op, pullBody, pushBody } from '../../../integration/conformance/wire.js';
import { type Received, type SentRequest, send } from '../../../integration/rest/sent.js';
import { listenForPokes } from '../../../support/poke-reader.js';
import type { Line } from '../line.js';
import { none, some } from '../results.js';
import { type Rig, withRig } from '../rig/rig.js';

const sizes = { full: { rounds: 300, crowd: 24 }, short: { rounds: 10, crowd: 12 } };

const json = JSON.stringify;
const groupOf = (user: string) => `group of ${user}`;
/** A text in every row of a user, and in nothing that another user may see. */
const canaryOf = (user: string) => `canary<${user}>`;

export const twoUsers: Line = {
  line: '12',
  title: 'Many users try every route with the client groups, cookies, clients and keys of another user',
  pass: "no response, patch, error or poke reveals another user's data, and no user changes another user's data",
  minutes: 4,
  async run(torture) {
    const { rounds, crowd } = sizes[torture.size];
    const run = async (rig: Rig): Promise<Result[]> => {
      const users = Array.from({ length: crowd }, (_, i) => `user${i}`);
      const watch = new Watch(rig, users);
      await watch.begin();
      for (let round = 1; round <= rounds; round++) {
        await watch.crowdPulls();
        await watch.trespass(rig.random.pick(users), rig.random.pick(users));
        if (round % 50 === 0) torture.progress(`${round} of ${rounds} rounds`);
      }
      const pokes = await watch.pokesOfOther('stranger', 'user1');
      return [
        some('requests', watch.requests),
        some('of these, refused', watch.refused),
        none('responses that show something of another user', watch.leaks),
        none('responses with a wrong status', watch.unexpected),
        none('pokes about changes of another user', pokes),
        none('mutations applied for another user', await watch.countForeign()),
      ];
    };
    return { results: await withRig(torture, run) };
  },
};

class Watch {
  readonly #rig: Rig;
  readonly #users: readonly string[];
  readonly #cookies = new Map<string, unknown>();
  #next = 2;
  requests = 0;
  refused = 0;
  leaks = 0;
  unexpected = 0;

  constructor(rig: Rig, users: readonly string[]) {
    this.#rig = rig;
    this.#users = users;
  }

  /** Creates a document and a client for every user, with one mutation. */
  async begin(): Promise<void> {
    for (const user of this.#users) {
      const note = mutation(1, 'note', { id: `of ${user}`, body: canaryOf(user) }, user);
      await this.#request(user, this.#push(user, [note]), 200);
      await this.#pull(user, user, null);
    }
  }

  /** All users see a change at the same time, and shared reads must be separated for each user. */
  async crowdPulls(): Promise<void> {
    await this.#rig.postgres.pool.query(`update document set body = body || '.'`);
    await Promise.all(this.#users.map((user) => this.#pull(user, user, this.#cookies.get(user))));
  }

  /** Tries to access, as `user`, what belongs to `other`, on every route. */
  async trespass(user: string, other: string): Promise<void> {
    if (user === other) return;
    const cookie = this.#cookies.get(other);
    const id = this.#next++;
    const stolen = mutation(id, 'note', { id: `stolen ${id}`, body: canaryOf(user) }, other);
    const key = { 'Idempotency-Key': `"${other} ${id}"` };
    const call = (who: string): SentRequest => ({
      path: '/api/mutators/note',
      headers: key,
      body: json({ id: `called ${id} ${who}`, body: canaryOf(who) }),
    });
    await this.#pull(user, user, cookie);
    await this.#request(
      user,
      { path: '/sync/pull', body: json(pullBody({ clientGroupID: groupOf(other), cookie })) },
      403,
    );
    await this.#request(user, this.#push(other, [stolen]), 403);
    await this.#request(user, this.#push(user, [stolen]), 403);
    await this.#request(other, call(other), 200);
    // The same key is a different one for another user.
    await this.#request(user, call(user), 200);
    // The row exists, and the database's error names it.
    await this.#request(user, { path: '/api/mutators/note', body: json({ id: `of ${other}`, body: '' }) }, 409);
    for (const path of ['/api/openapi.json', '/api/docs', '/readyz', '/api/views']) {
      await this.#request(user, { method: 'GET', path }, 200);
    }
    await this.#read(user, other);
    for (const request of [this.#push(other, [stolen]), { path: '/sync/pull', body: '{}' }, call(user)]) {
      await this.#request(user, { ...request, headers: { Authorization: undefined } }, 401);
    }
    const query = new URLSearchParams({ clientGroupID: groupOf(other), profileID: 'p' });
    await this.#request(
      user,
      { method: 'GET', path: `/sync/poke?${query}`, headers: { Authorization: undefined } },
      401,
    );
  }

  /** Reads the views as `user` with the keys and tokens of `other`. */
  async #read(user: string, other: string): Promise<void> {
    const path = '/api/views/document';
    const row = `${path}/${encodeURIComponent(`of ${other}`)}`;
    const read = (request: Omit<SentRequest, 'method'>) => ({ method: 'GET', ...request });
    const own = await this.#request(other, read({ path }), 200);
    const tag = own.headers.get('ETag')!;
    await this.#request(other, read({ path, headers: { 'If-None-Match': tag } }), 304);
    await this.#request(user, read({ path, headers: { 'If-None-Match': tag } }), 200);
    const { body } = await this.#request(user, read({ path: `${path}?since=${encodeURIComponent(tag)}` }), 200);
    // Another user's cookie must not serve as a base.
    if ((body!.patch as Op[])[0]?.op !== 'clear') this.unexpected++;
    await this.#request(user, read({ path: row }), 404);
    await this.#request(user, read({ path: row, headers: { 'If-None-Match': tag, Prefer: 'wait=1' } }), 404);
    await this.#request(user, read({ path: row, headers: { Authorization: undefined } }), 401);
    await this.#request(user, read({ path, headers: { Authorization: undefined } }), 401);
    const headers = { Authorization: `Bearer ${user}`, Accept: 'text/event-stream', 'Last-Event-ID': tag };
    const stream = await fetch(this.#rig.anyServer() + path, { headers });
    this.#inspect(user, path, await beginningOf(stream));
  }

  /**
   * Counts the pokes of a subscriber that claims another user's client group, while that user's rows change.
   * @param user A user who has changed nothing. A recent change of their own would cause a poke.
   */
  async pokesOfOther(user: string, other: string): Promise<number> {
    const fetchAt = (path: string, init: RequestInit) => fetch(this.#rig.anyServer() + path, init);
    const listen = (who: string) => listenForPokes(fetchAt, { user: who, clientGroupID: groupOf(other) });
    const [stranger, owner] = [await listen(user), await listen(other)];
    const first = stranger.pokes();
    for (let i = 0; i < 5; i++) {
      const id = this.#next++;
      const before = owner.pokes();
      const call = { path: '/api/mutators/note', body: json({ id: `poked ${id}`, body: canaryOf(other) }) };
      await this.#request(other, call, 200);
      for (let waited = 0; owner.pokes() === before && waited < 5_000; waited += 20) await sleep(20);
    }
    if (owner.pokes() === first) this.unexpected++;
    stranger.close();
    owner.close();
    return stranger.pokes() - first;
  }

  /** The number of documents of one user that another user has written. */
  async countForeign(): Promise<number> {
    const { rowCount } = await this.#rig.postgres.pool.query(
      `select from document where id like 'stolen%' or body not like 'canary<' || owner_id || '>%'`,
    );
    return rowCount!;
  }

  #push(of: string, mutations: object[]): SentRequest {
    return { path: '/sync/push', body: json(pushBody(mutations, { clientGroupID: groupOf(of) })) };
  }

  async #pull(user: string, group: string, cookie: unknown): Promise<void> {
    const body = json(pullBody({ clientGroupID: groupOf(group), cookie }));
    const { text } = await this.#request(user, { path: '/sync/pull', body }, 200);
    this.#cookies.set(user, JSON.parse(text).cookie);
  }

  /** Sends a user's request, and searches the response for other users' data. */
  async #request(user: string, request: SentRequest, status: number): Promise<Received> {
    const headers = { Authorization: `Bearer ${user}`, ...request.headers };
    const received = await send(this.#rig.anyServer(), { ...request, headers });
    this.requests++;
    if (status >= 400) this.refused++;
    if (received.status !== status) {
      this.unexpected++;
      console.error(`  ${request.path}: ${received.status}, not ${status}: ${received.text.slice(0, 300)}`);
    }
    this.#inspect(user, request.path, `${received.text} ${json([...received.headers])}`);
    return received;
  }

  /** Searches a response for other users' data. */
  #inspect(user: string, path: string, text: string): void {
    const shown = this.#users.filter((other) => other !== user && text.includes(canaryOf(other)));
    if (shown.length === 0) return;
    this.leaks++;
    console.error(`  ${path} shows ${user} what is of ${shown.join(', ')}`);
  }
}

/** The first event of a stream that has data. */
async function beginningOf({ body }: Response): Promise<string> {
  let text = '';
  for await (const chunk of body!) {
    text += Buffer.from(chunk).toString();
    if (/^data:.*\n\n/ms.test(text)) break;
  }
  return text;
}
