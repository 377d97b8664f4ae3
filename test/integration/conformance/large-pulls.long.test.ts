/** As many simultaneous large first pulls as after an outage. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { copying, LargePull, pullUntilWhole, startWithTodos } from './large-pulls.js';
import type { TestServer } from './server.js';
import { mutation, pull, push } from './wire.js';

const todos = 60_000;
/** Of the server's ten connections, four are for long reads. One user can have three of these. */
const permits = 3;

let server: TestServer;
beforeAll(async () => {
  server = await startWithTodos(todos, 200);
});
afterAll(() => server.close());

let maxCopying = 0;
let watching: NodeJS.Timeout;
beforeEach(() => {
  maxCopying = 0;
  watching = setInterval(async () => {
    maxCopying = Math.max(maxCopying, await copying(server));
  }, 50);
});
afterEach(() => clearInterval(watching));

it('pushes and small pulls are answered beside 50 large pulls, which all complete', async () => {
  let { cookie } = await pull(server, 'bob');
  const pulls = Array.from({ length: 50 }, (_, i) => new LargePull(server, `large ${i}`));
  for (let id = 1; id <= 50; id++) {
    const args = { id: `b${id}`, listID: 'b', title: 'Sweep', sort: id };
    expect((await push(server, 'bob', [mutation(id, 'todo.create', args)])).status).toBe(200);
    const answer = await pull(server, 'bob', { cookie });
    expect(answer.patch).toEqual([expect.objectContaining({ key: `todo/b${id}` })]);
    cookie = answer.cookie;
  }
  const ends = await Promise.all(pulls.map((slow, i) => pullUntilWhole(server, `large ${i}`, slow)));
  expect(ends.map((all) => all.at(-1)!.ops)).toEqual(pulls.map(() => todos + 1));
  expect(maxCopying).toBe(permits);
}, 600_000);

it('150 simultaneous large pulls complete, with the retries of the client', async () => {
  // A hundred requests of one user can wait.
  const ends = await Promise.all(Array.from({ length: 150 }, (_, i) => pullUntilWhole(server, `large herd ${i}`)));
  expect(ends.map((all) => all.at(-1)!.ops)).toEqual(ends.map(() => todos + 1));
  const refused = ends.flatMap((all) => all.slice(0, -1));
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, retryAfter } of refused) {
    expect([429, 503]).toContain(status);
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
  }
  expect(maxCopying).toBe(permits);
}, 600_000);
