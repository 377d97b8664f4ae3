import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { views } from '../../examples/tasks/src/views.js';
import { seedDemo } from '../e2e/example/seeded.js';
import { startServer, type TestServer } from '../integration/conformance/server.js';
import { blocksOf } from './compile.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ views });
  await seedDemo(server.pool);
});
afterAll(async () => {
  await server.close();
});

/** Sends the request of a curl command. */
async function curl(command: string): Promise<unknown> {
  const path = /localhost:3000(\S+)/.exec(command)![1]!;
  const headers = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]): [string, string] => [
    name!,
    value!,
  ]);
  const body = /-d '([^']*)'/.exec(command)?.[1];
  const sent = body === undefined ? { headers } : { method: 'POST', headers, body };
  return await (await fetch(`${server.url}${path}`, sent)).json();
}

describe('docs/rest.md', () => {
  const blocks = blocksOf('docs/rest.md', 'sh').filter((block) => block.startsWith('curl'));
  const [first, ops, ...commands] = blocks as [string, string, ...string[]];
  const [rows, one, several] = blocksOf('docs/rest.md', 'json').map((text) => JSON.parse(text) as unknown);

  it('shows reads with the responses for the data of the example', async () => {
    expect(await curl(first)).toEqual(rows);
    const [since, stream] = ops.trim().split('\n') as [string, string];
    const { patch } = (await curl(since.replaceAll(/'(?=localhost)|(?<=since=)'/g, ''))) as { patch: unknown[] };
    expect(patch).toEqual([
      { op: 'clear' },
      ...(rows as { id: string }[]).map((value) => ({ op: 'put', key: `list/${value.id}`, value })),
    ]);
    expect(stream).toContain("-H 'Accept: text/event-stream'");
  });

  it('shows calls with the responses for the data of the example', async () => {
    expect(commands).toHaveLength(3);
    const answers = await Promise.all(commands.map(curl));
    expect(answers).toEqual([one, one, several]);
  });
});
