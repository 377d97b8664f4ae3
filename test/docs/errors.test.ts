import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { catalogue } from '../../packages/tidemark/src/errors.js';

const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

it('docs/errors.md lists exactly the codes of the catalogue, with their statuses', () => {
  const rows = [...text.matchAll(/^\| `([\w-]+)` \| (\d{3}) \| (.+) \| (.+) \|$/gm)];
  const listed = rows.map(([, code, status]) => [code, Number(status)]);
  expect(listed).toEqual(Object.entries(catalogue).map(([code, { status }]) => [code, status]));
});

it('docs/errors.md lists exactly the codes of the client', () => {
  const src = new URL('../../packages/client/src/', import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(file, src), 'utf8'));
  const thrown = files.flatMap((file) => [...file.matchAll(/new ClientError\(\s*'([\w-]+)'/g)].map(([, code]) => code));
  const section = text.split('## Errors of the client')[1]!.split('\n## ')[0]!;
  const listed = [...section.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell]) => cell!.replaceAll('`', '').split(', '));
  expect(listed.sort()).toEqual([...new Set(thrown)].sort());
});
