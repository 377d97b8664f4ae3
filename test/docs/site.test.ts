import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { docs, findProblems, groups, llmsText, parsePage, readPage } from '../../site/pages.js';
import { manifest, repository, repositoryLink } from '../../site/repository.js';

describe('the sidebar of the site', () => {
  it('lists each page of docs/ once', () => {
    expect(findProblems()).toEqual([]);
  });

  it.each(groups.flatMap(({ pages }) => pages))('has a title and a description for %s', (page) => {
    const { title, description } = readPage(page);
    expect(title).not.toBe('');
    expect(description).toMatch(/^[^\n]{20,}\.$/);
  });
});

it('describes a page with the first sentences of its first paragraph', () => {
  const text =
    '# The `title`\n\n```sh\nnpm ci\n```\n\nA [link](a.md) to\nthe rest. `Code` is short. Then: nothing.\n\nMore.\n';
  expect(parsePage(text)).toEqual({
    title: 'The title',
    description: 'A link to the rest. Code is short. Then: nothing.',
  });
});

it('lists all pages in llms.txt', () => {
  const text = llmsText('Tidemark', manifest.description, '/');
  expect(text).toMatch(/^# Tidemark\n\n> .+\n\n## Start\n\n- \[/);
  expect(text.match(/^- \[.+\]\(\/[\w/.-]+\): .+$/gm)).toHaveLength(groups.flatMap(({ pages }) => pages).length);
});

it('links from the home page to pages that exist', () => {
  const links = [...readFileSync(join(docs, 'index.md'), 'utf8').matchAll(/link: \/(\S+)/g)].map(([, page]) => page);
  expect(links.length).toBeGreaterThan(0);
  expect(groups.flatMap(({ pages }) => pages)).toEqual(expect.arrayContaining(links));
});

describe('links of a page', () => {
  const linkFrom = (page: string, link: string) => repositoryLink(join(docs, page), link);

  it('lead to the repository if the file is not in docs/', () => {
    expect(linkFrom('views.md', '../README.md#start')).toBe(`${repository}/blob/main/README.md#start`);
    expect(linkFrom('concepts/pokes.md', '../../examples/tasks')).toBe(`${repository}/tree/main/examples/tasks`);
  });

  it('stay as they are otherwise', () => {
    for (const link of ['client.md#views', '#keys', 'https://replicache.dev/../x', 'mailto:ann@example.com', '/']) {
      expect(linkFrom('views.md', link), link).toBeUndefined();
    }
    expect(linkFrom('concepts/pokes.md', '../views.md')).toBeUndefined();
  });

  it('must lead to a file that exists', () => {
    expect(() => linkFrom('views.md', '../absent.md')).toThrow('absent.md');
  });
});
