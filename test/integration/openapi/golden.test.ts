import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { info } from '../../../examples/tasks/src/api.js';
import { startServer } from '../conformance/server.js';
import { lintWithRedocly, lintWithSpectral } from './lint.js';

describe("the example's document", () => {
  it('equals the golden file', async () => {
    const server = await startServer({ rest: { info } });
    try {
      const document = (await (await fetch(`${server.url}/api/openapi.json`)).json()) as unknown;
      await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../golden/openapi.json');
      expect(server.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    } finally {
      await server.close();
    }
  });

  const golden = () =>
    JSON.parse(readFileSync(new URL('../../golden/openapi.json', import.meta.url), 'utf8')) as unknown;

  it('passes the Redocly linter', async () => {
    expect(await lintWithRedocly(golden())).toEqual([]);
  });

  it('passes the Spectral linter', async () => {
    expect(await lintWithSpectral(golden())).toEqual([]);
  });
});
