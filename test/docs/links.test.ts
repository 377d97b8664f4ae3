import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'internals'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
];

function linksIn(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`]*`/g, '');
  return [...prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map((match) => match[1]!);
}

/** The anchors that GitHub derives from a document's headings. */
function anchorsIn(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(documents)('%s', (document) => {
  it('has no broken links', () => {
    const text = readFileSync(join(root, document), 'utf8');
    const broken = linksIn(text).filter((link) => {
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? join(root, document) : join(root, dirname(document), path);
      if (!existsSync(file)) return true;
      return anchor !== undefined && !anchorsIn(readFileSync(file, 'utf8')).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});
