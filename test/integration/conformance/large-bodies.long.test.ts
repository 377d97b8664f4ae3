/** One user's large requests take neither memory nor time away from other users. */
import { type ClientRequest, request } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { startServer, type TestServer } from './server.js';
import { mutation, push, pushBody, send } from './wire.js';

const MiB = 1024 * 1024;

let server: TestServer;
beforeAll(async () => {
  const nothing = defineMutator(async () => {});
  server = await startServer({ mutators: defineMutators({ nothing }) });
});
afterAll(() => server.close());

/** A push that withholds the end of its body. */
class IncompletePush {
  readonly #request: ClientRequest;
  status: number | undefined;
  retryAfter: number | undefined;

  constructor(user: string, body: Buffer, isChunked: boolean) {
    const length = isChunked ? {} : { 'Content-Length': String(body.byteLength) };
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${user}`, ...length };
    this.#request = request(`${server.url}/sync/push`, { method: 'POST', headers });
    this.#request.on('response', (response) => {
      this.status = response.statusCode;
      this.retryAfter = Number(response.headers['retry-after']);
      response.resume();
    });
    this.#request.on('error', () => {});
    this.#request.write(body.subarray(0, -1));
  }

  get hasEnded(): boolean {
    return this.status !== undefined;
  }

  giveUp(): void {
    this.#request.destroy();
  }
}

describe.each([
  ['with a declared length', false],
  ['without a declared length', true],
])('bodies %s', (_, isChunked) => {
  const body = Buffer.alloc(4 * MiB, ' ');

  it('are counted while they are in memory, for each user and in total', async () => {
    const pushes: IncompletePush[] = [];
    try {
      for (let i = 0; i < 3; i++) pushes.push(new IncompletePush('eve', body, isChunked));
      await vi.waitFor(() => expect(pushes.filter(({ hasEnded }) => hasEnded)).toHaveLength(1), { timeout: 10_000 });
      expect(pushes.find(({ hasEnded }) => hasEnded)).toMatchObject({ status: 429 });
      for (let i = 0; i < 7; i++) pushes.push(new IncompletePush(`u${i}`, body, isChunked));
      await vi.waitFor(() => expect(pushes.filter(({ hasEnded }) => hasEnded)).toHaveLength(2), { timeout: 10_000 });
      const full = pushes.find(({ status }) => status === 503)!;
      expect(full.retryAfter).toBeGreaterThanOrEqual(1);
    } finally {
      for (const one of pushes) one.giveUp();
    }
    await vi.waitFor(async () => {
      const answer = await send(server, '/sync/push', JSON.stringify(pushBody([])).padEnd(4 * MiB), { user: 'bob' });
      expect(answer.status).toBe(200);
    }, 10_000);
  });
});

const deep = JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`);

it.each<[string, unknown[]]>([
  ['many mutations', Array.from({ length: 10_000 }, (_, i) => [i, 'x'.repeat(200)])],
  ['numbers', [Array.from({ length: 160_000 }, (_, i) => i * 1.1)]],
  ['deep arrays', ['x'.repeat(2 * MiB), ...Array.from({ length: 1_200 }, () => deep)]],
])('a push of %s lets other work run in between', async (name, args) => {
  const mutations = args.map((one, i) => mutation(i + 1, 'nothing', one, name));
  const body = pushBody(mutations, { clientGroupID: name });
  expect(JSON.stringify(body).length).toBeGreaterThan(2 * MiB);
  let isOver = false;
  const answer = send(server, '/sync/push', body, { user: 'eve' }).finally(() => {
    isOver = true;
  });
  // Measures the longest time for which the server blocked the event loop, and the total time of the push.
  const begun = performance.now();
  let longest = 0;
  for (let last = begun; !isOver; ) {
    await turn();
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  expect((await answer).status).toBe(200);
  expect(longest).toBeLessThan((performance.now() - begun) / 2);
});

it('a push with too many arrays is refused', async () => {
  const { status, body } = await push(server, 'eve', [mutation(1, 'nothing', Array(2_000).fill(deep))]);
  expect(status).toBe(413);
  expect(body).toMatchObject({ code: 'body-too-large', detail: expect.stringContaining('200000 arrays') });
});

it('a push with too many mutations is refused', async () => {
  const mutations = Array.from({ length: 10_001 }, (_, i) => mutation(i + 1, 'nothing', null));
  const { status, body } = await push(server, 'eve', mutations);
  expect(status).toBe(413);
  expect(body).toMatchObject({ code: 'body-too-large' });
});
