/** `status.progress`: how much of a first answer has arrived. */
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../packages/tidemark/src/node.js';
import { silent } from '../../support/log.js';
import { useApplication } from './application.js';

const application = useApplication();

/** The server's answer to a pull, of which the client receives what the test lets pass. */
interface HeldAnswer {
  readonly bytes: number;
  /** Passes on the answer up to this byte. */
  passTo(end: number): void;
}

/** Starts a proxy that holds large answers to pulls back. */
async function openProxy(): Promise<{ readonly url: string; readonly answers: readonly HeldAnswer[] }> {
  const answers: HeldAnswer[] = [];
  const fetchHeld = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.set('Accept-Encoding', 'identity');
    const { method } = request;
    const sent = method === 'POST' && { body: await request.arrayBuffer() };
    const answer = await fetch(`${application.server.url}${pathname}${search}`, { method, headers, ...sent });
    if (pathname !== '/sync/pull') return answer;
    const body = new Uint8Array(await answer.arrayBuffer());
    const jsonHeaders = { 'Content-Type': 'application/json' };
    if (body.length < 100_000) return new Response(body, { status: answer.status, headers: jsonHeaders });
    const held = new ReadableStream<Uint8Array>({
      start(controller) {
        let passed = 0;
        answers.push({
          bytes: body.length,
          passTo(end) {
            controller.enqueue(body.slice(passed, end));
            passed = end;
            if (end === body.length) controller.close();
          },
        });
      },
    });
    return new Response(held, { headers: jsonHeaders });
  };
  const service = { fetch: fetchHeld, close: async () => {} };
  const proxy = await listen(service, { log: silent, port: 0, hostname: '127.0.0.1', signals: false, drainMs: 0 });
  onTestFinished(() => proxy.close());
  return { url: proxy.url, answers };
}

beforeEach(async () => {
  await application.server.pool.query(`
    insert into list (id, owner_id, name) values ('a', 'ann', 'Garden');
    insert into todo (id, list_id, title, sort) select n, 'a', repeat('Milk', 50), n from generate_series(1, 1000) n`);
});

it('the status shows how much of the first answer has arrived, and nothing of later ones', async () => {
  const { url, answers } = await openProxy();
  const client = application.client({ url, pullInterval: null });
  const { status } = client;
  status.subscribe(() => {});
  await expect.poll(() => answers.length).toBe(1);
  const first = answers[0]!;
  expect(first.bytes).toBeGreaterThan(200_000);
  expect(status.get().progress).toBeNull();
  for (const bytes of [100_000, 150_000]) {
    first.passTo(bytes);
    await expect.poll(() => status.get().progress).toEqual({ bytes });
  }
  first.passTo(first.bytes);
  await expect.poll(() => status.get()).toMatchObject({ state: 'online', progress: null });
  await expect.poll(() => client.view('todo').count()).toBe(1000);

  const later: unknown[] = [];
  status.subscribe(({ progress }) => later.push(progress));
  await application.server.pool.query(`update todo set title = repeat('Oats', 50)`);
  await expect.poll(() => answers.length).toBe(2);
  const second = answers[1]!;
  second.passTo(150_000);
  second.passTo(second.bytes);
  await expect.poll(async () => (await client.view('todo').get('1'))?.title).toMatch(/^Oats/);
  expect(later.filter((progress) => progress !== null)).toEqual([]);
});
