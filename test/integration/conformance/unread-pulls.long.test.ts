/** Large first pulls leave connections for everything else, also while their clients read nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copying, LargePull, pullUntilWhole, startWithTodos } from './large-pulls.js';
import type { TestServer } from './server.js';
import { mutation, pull, push } from './wire.js';

const todos = 8000;
/** Of the server's ten connections, four are for long reads. One user can have three of these. */
const permits = 3;

let server: TestServer;
beforeAll(async () => {
  // The server reads nothing ahead for slow clients, so they keep their permits.
  server = await startWithTodos(todos, 4000, { limits: { spool: 0 } });
});
afterAll(() => server.close());

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await sleep(20);
}

it('pushes and small pulls are answered beside unread large pulls, which complete later', async () => {
  const { cookie } = await pull(server, 'bob');
  const pulls = Array.from({ length: 8 }, (_, i) => new LargePull(server, `large ${i}`));
  await until(async () => (await copying(server)) === permits);
  let last = cookie;
  for (let id = 1; id <= 10; id++) {
    const args = { id: `b${id}`, listID: 'b', title: 'Sweep', sort: id };
    expect((await push(server, 'bob', [mutation(id, 'todo.create', args)])).status).toBe(200);
    const answer = await pull(server, 'bob', { cookie: last });
    expect(answer.patch).toEqual([expect.objectContaining({ key: `todo/b${id}` })]);
    last = answer.cookie;
    expect(await copying(server)).toBe(permits);
  }
  const ends = await Promise.all(pulls.map((large, i) => pullUntilWhole(server, `large ${i}`, large)));
  expect(ends.map((all) => all.at(-1)!.ops)).toEqual(pulls.map(() => todos + 1));
}, 120_000);

it('a client that gives up leaves the queue if it waits, or frees its permit if it reads', async () => {
  const read = Array.from({ length: permits }, (_, i) => new LargePull(server, `large and read ${i}`));
  await until(async () => (await copying(server)) === permits);
  const waiting: LargePull[] = [];
  const isRefused = ({ status }: LargePull) => status === 503 || status === 429;
  while (!waiting.some(isRefused)) {
    for (let i = 0; i < 50; i++) waiting.push(new LargePull(server, `waits ${waiting.length}`));
    await sleep(100);
  }
  const refused = await waiting.find(isRefused)!.read();
  expect(Number(refused.retryAfter)).toBeGreaterThanOrEqual(1);
  const left = waiting.filter(({ status }) => status === undefined);
  for (const one of waiting) one.giveUp();
  const abandonedCount = () =>
    server.lines.filter(({ fields }) => fields.detail === 'The client went away while it was waiting').length;
  // The server has not seen requests that were still on their way.
  await until(() => abandonedCount() >= left.length - 10);
  let late = new LargePull(server, 'late');
  await until(async () => {
    await sleep(100);
    if (isRefused(late)) late = new LargePull(server, 'late');
    return late.status === undefined;
  });
  for (const one of read) one.giveUp();
  expect(await late.read()).toMatchObject({ status: 200, ops: todos + 1 });
}, 120_000);

it('unread pulls hold no connection if their responses can be stored', async () => {
  await server.stop();
  await server.start({});
  const pulls = Array.from({ length: 8 }, (_, i) => new LargePull(server, `large and stored ${i}`));
  await until(() => pulls.every(({ status }) => status === 200));
  await until(async () => (await copying(server)) === 0);
  const ends = await Promise.all(pulls.map((large) => large.read()));
  expect(ends.map(({ ops }) => ops)).toEqual(pulls.map(() => todos + 1));
}, 120_000);
