import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { memoryLog } from '../../../../test/support/log.js';
import { createApp } from '../http/app.js';
import type { Route } from '../http/route.js';
import { type DocsFile, readDocsFile } from './docs-files.js';
import { createDocsPage, docsFiles } from './docs-page.js';

const { log, lines } = memoryLog();
const docs = createDocsPage('Tasks');

function get(path: string, headers: Record<string, string>, handle: Route['handle']): Promise<Response> {
  return createApp([{ methods: ['GET'], path, handle }], log).fetch(
    new Request(`http://localhost${path}`, { headers }),
  );
}

function getPage(page = docs): Promise<Response> {
  return get('/api/docs', {}, () => page.page());
}

function getFile(name: DocsFile, headers: Record<string, string> = {}, page = docs): Promise<Response> {
  return get(`/api/docs/${name}`, headers, (exchange) => page.file(exchange, name));
}

function expectGuarded({ headers }: Response): void {
  const policy = headers.get('Content-Security-Policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  expect(policy).not.toMatch(/unsafe|\*|http/);
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(headers.get('Referrer-Policy')).toBe('no-referrer');
}

describe('the documentation page', () => {
  it('is HTML that caches must revalidate', async () => {
    const response = await getPage();
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('Cache-Control')).toBe('no-cache');
    expectGuarded(response);
  });

  it('refers only to its own files, by relative URLs', async () => {
    const html = await (await getPage()).text();
    const references = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, reference]) => reference!);
    const files = references.filter((reference) => reference.startsWith('docs/')).map((path) => path.slice(5));
    expect(docsFiles).toEqual(expect.arrayContaining(files));
    expect(references.filter((reference) => !reference.startsWith('docs/'))).toEqual(['data:,', 'openapi.json']);
    expect(html).not.toMatch(/<style|\sstyle=|<script>|\son\w+=/);
  });

  it('has the escaped title of the document', async () => {
    const html = await (await getPage(createDocsPage('<b>Q&A</b></title>'))).text();
    expect(html).toContain('<title>&lt;b&gt;Q&amp;A&lt;/b&gt;&lt;/title&gt;</title>');
  });

  it.each(docsFiles)('includes the file %s', async (name) => {
    const response = await getFile(name);
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toMatch(/^text\/(css|javascript|plain); charset=utf-8$/);
    expectGuarded(response);
    expect((await response.text()).length).toBeGreaterThan(100);
  });

  it.each([
    ['the same tag', (tag: string) => tag, 304],
    ['one of several tags', (tag: string) => `"other", ${tag}`, 304],
    ['the weak tag of a proxy', (tag: string) => `W/${tag}`, 304],
    ['any tag', () => '*', 304],
    ['another tag', () => '"other"', 200],
  ])('revalidates a file that is cached under %s', async (_, ifNoneMatchOf, status) => {
    const page = createDocsPage('Tasks');
    const tag = (await getFile('docs-page.js', {}, page)).headers.get('ETag')!;
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    const response = await getFile('docs-page.js', { 'If-None-Match': ifNoneMatchOf(tag) }, page);
    expect(response.status).toBe(status);
    expect(response.headers.get('ETag')).toBe(tag);
    expect(response.headers.get('Cache-Control')).toBe('public, no-cache');
    expect((await response.text()).length > 0).toBe(status === 200);
  });

  it('logs which file is missing from the build', async () => {
    const read = (name: DocsFile) => readDocsFile(name, pathToFileURL('/nowhere/'));
    const response = await getFile('swagger-ui.css', {}, createDocsPage('Tasks', read));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toMatch(/nowhere/);
    expect(JSON.stringify(lines)).toMatch(/needs \/nowhere\/swagger-ui\.css: run npm run build/);
  });
});
