import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { info } from '../../examples/tasks/src/api.js';
import { mutators } from '../../examples/tasks/src/mutators.js';
import { createDocument } from '../../src/openapi/document.js';
import { lintWithRedocly, lintWithSpectral } from './lint.js';

describe("the example's document", () => {
  it('is the golden file', async () => {
    const { document, warnings } = await createDocument({ mutators, info, basePath: '', idempotent: true });
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../golden/openapi.json');
    expect(warnings).toEqual([]);
  });

  const golden = () => JSON.parse(readFileSync(new URL('../golden/openapi.json', import.meta.url), 'utf8')) as unknown;

  it('has nothing for Redocly to find', async () => {
    expect(await lintWithRedocly(golden())).toEqual([]);
  });

  it('has nothing for Spectral to find', async () => {
    expect(await lintWithSpectral(golden())).toEqual([]);
  });
});
