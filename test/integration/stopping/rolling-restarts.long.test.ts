import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { createSynced } from '../../support/synced.js';
import { type StoppingServer, startServer } from './stopping.js';

let database: TestDatabase;
const servers: StoppingServer[] = [];

beforeAll(async () => {
  database = await createSynced('', {});
});
afterAll(async () => {
  for (const { child } of servers) child.kill('SIGKILL');
  await Promise.all(servers.map(({ ended }) => ended));
  await database.drop();
});

const agent = new Agent({ keepAlive: true });

function send(url: string, method: string): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(url, { agent, method }, (response) => {
      response.on('error', (error) => resolve(`broken off: ${error.message}`));
      response.on('end', () => resolve(`status ${response.statusCode}`)).resume();
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end();
  });
}

/** Sends each request to one of the servers that were ready at its last check, as a load balancer does. */
class Balancer {
  readonly outcomes = new Map<string, number>();
  #ready: string[] = [];
  #isStopped = false;

  async watch(): Promise<void> {
    for (; !this.#isStopped; await sleep(50)) {
      const answers = await Promise.all(servers.map(({ url }) => send(`${url}/readyz`, 'GET')));
      this.#ready = servers.map(({ url }) => url).filter((_, i) => answers[i] === 'status 200');
    }
  }

  async send(): Promise<void> {
    for (let i = 0; !this.#isStopped; i++) {
      const url = this.#ready[i % this.#ready.length];
      const outcome = url === undefined ? 'no server' : await send(`${url}/api/mutators/slow`, 'POST');
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
      if (url === undefined) await sleep(20);
    }
  }

  /** Resolves when the balancer sends requests to this server. */
  async includes(url: string): Promise<void> {
    await expect.poll(() => this.#ready, { timeout: 20_000 }).toContain(url);
  }

  stop(): void {
    this.#isStopped = true;
  }
}

it('servers that are replaced one by one under load leave no request unanswered', async () => {
  const balancer = new Balancer();
  const startNext = async () => {
    const server = await startServer(database.url, { drainDelayMs: 3_000 });
    servers.push(server);
    await balancer.includes(server.url);
  };
  const watching = balancer.watch();
  await startNext();
  const clients = Array.from({ length: 16 }, () => balancer.send());
  for (const last of [0, 1, 2]) {
    await startNext();
    servers[last]!.child.kill('SIGTERM');
    expect(await servers[last]!.ended).toMatchObject({ code: 0, signal: null });
  }
  balancer.stop();
  await Promise.all([watching, ...clients]);
  expect([...balancer.outcomes.keys()]).toEqual(['status 200']);
  expect(balancer.outcomes.get('status 200')).toBeGreaterThan(500);
});
