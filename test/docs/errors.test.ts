import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { catalogue } from '../../src/errors.js';

it('docs/errors.md lists the codes of the catalogue with their statuses, and no others', () => {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([\w-]+)` \| (\d{3}) \| (.+) \| (.+) \|$/gm)];
  const listed = rows.map(([, code, status]) => [code, Number(status)]);
  expect(listed).toEqual(Object.entries(catalogue).map(([code, { status }]) => [code, status]));
});
