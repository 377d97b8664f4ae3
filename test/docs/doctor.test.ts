import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { kinds } from '../../packages/tidemark/src/doctor/finding.js';

it('docs/operations/doctor.md lists the findings of the doctor with their severities', () => {
  const text = readFileSync(new URL('../../docs/operations/doctor.md', import.meta.url), 'utf8');
  const rows = text.matchAll(/^\| `([a-z-]+)` \| (\w+) \|/gm);
  const listed = [...rows].map(([, code, severity]) => [code, severity]);
  expect(listed).toEqual(Object.entries(kinds).map(([code, { severity }]) => [code, severity]));
});
