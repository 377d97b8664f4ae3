import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../conformance/server.js';
import { seedDemo } from '../example/seeded.js';
import { blocksOf } from './compile.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
  await seedDemo(server.pool);
});
afterAll(async () => {
  await server.close();
});

/** Sends what a curl command sends. */
async function curl(command: string): Promise<unknown> {
  const path = /localhost:3000(\S+)/.exec(command)![1]!;
  const headers = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]): [string, string] => [
    name!,
    value!,
  ]);
  const body = /-d '([^']*)'/.exec(command)![1]!;
  return await (await fetch(`${server.url}${path}`, { method: 'POST', headers, body })).json();
}

describe('docs/rest.md', () => {
  const commands = blocksOf('docs/rest.md', 'sh').filter((block) => block.startsWith('curl'));
  const [one, several] = blocksOf('docs/rest.md', 'json').map((text) => JSON.parse(text) as unknown);

  it('shows calls that work, against the data of the example', async () => {
    expect(commands).toHaveLength(3);
    const answers = await Promise.all(commands.map(curl));
    expect(answers).toEqual([one, one, several]);
  });
});
