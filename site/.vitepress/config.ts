import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderMermaidSVG } from 'beautiful-mermaid';
import type { Plugin } from 'vite';
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress';
import { addressOf, docs, findProblems, groups, home, llmsText, readPage } from '../pages.js';
import { manifest, repository, repositoryLink } from '../repository.js';

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0];

/** Makes links to files outside docs/ links to the repository. */
function linkToRepository(md: MarkdownIt): void {
  const render = md.renderer.rules.link_open!;
  md.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const token = tokens[index]!;
    const link = repositoryLink(env.path, token.attrGet('href') ?? '');
    if (link !== undefined) token.attrSet('href', link);
    return render(tokens, index, options, env, self);
  };
}

/** Draws Mermaid diagrams at build time. Their colours and font are in theme/style.css. */
function drawDiagrams(md: MarkdownIt): void {
  const render = md.renderer.rules.fence!;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const { info, content } = tokens[index]!;
    if (info.trim() !== 'mermaid') return render(tokens, index, options, env, self);
    const svg = renderMermaidSVG(content, { padding: 8 })
      .replace(/<style>[\s\S]*?<\/style>/, '')
      .replace(/ style="[^"]*"/, '');
    return `<div class="diagram" v-pre>${svg}</div>\n`;
  };
}

/** Derives the anchors of headings as GitHub does, so that the same links work in both places. */
function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** Finds packages here, since pages are compiled in docs/, which has none. */
const packagesForPages: Plugin = {
  name: 'packages-for-pages',
  enforce: 'pre',
  config: {
    order: 'post',
    handler(config) {
      // Vite would not find VitePress's dependencies to optimize them, and serves them unoptimized.
      const { optimizeDeps } = config;
      if (optimizeDeps?.include)
        optimizeDeps.include = optimizeDeps.include.filter((id) => !id.startsWith('vitepress >'));
    },
  },
  resolveId(source, importer) {
    if (!/^vue(\/|$)/.test(source) || !importer?.startsWith(docs)) return null;
    return this.resolve(source, fileURLToPath(import.meta.url), { skipSelf: true });
  },
};

/** Returns the sidebar's items. Below the index of a folder are its other pages. */
function itemsOf(pages: readonly string[]): DefaultTheme.SidebarItem[] {
  const itemOf = (page: string) => ({ text: readPage(page).title, link: `/${addressOf(page)}` });
  const isIndex = (page: string) => page.endsWith('/index');
  const below = (index: string) => pages.filter((page) => !isIndex(page) && dirname(page) === dirname(index));
  return pages
    .filter((page) => isIndex(page) || dirname(page) === '.')
    .map((page) => (isIndex(page) ? { ...itemOf(page), items: below(page).map(itemOf) } : itemOf(page)));
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="7" fill="#3451b2"/>
  <path d="M5 13q5.5-6 11 0t11 0M5 21q5.5-6 11 0t11 0" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>
</svg>`;

const problems = findProblems();
if (problems.length > 0) throw new Error(`The sidebar does not fit docs/:\n${problems.join('\n')}`);

export default defineConfig({
  title: 'Tidemark',
  description: manifest.description,
  lang: 'en',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  srcDir: docs,
  markdown: {
    anchor: { slugify },
    // Not part of GitHub's Markdown.
    attrs: { disable: true },
    config(md) {
      linkToRepository(md);
      drawDiagrams(md);
    },
  },
  themeConfig: {
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'Operations', link: '/operations/' },
      { text: 'Reference', link: '/reference' },
      { text: 'Comparison', link: '/comparison' },
      { text: 'FAQ', link: '/faq' },
    ],
    sidebar: groups.map(({ title, pages }) => ({
      text: title,
      collapsed: false,
      items: itemsOf(pages),
    })),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
  },
  transformPageData({ relativePath }) {
    const page = relativePath.slice(0, -'.md'.length);
    return page === home ? {} : { description: readPage(page).description };
  },
  buildEnd({ outDir, site }) {
    writeFileSync(join(outDir, 'llms.txt'), llmsText(site.title, site.description, site.base));
  },
  vite: {
    // esbuild's present version does not transform all of the code for Vite's older defaults.
    build: { target: 'es2022' },
    optimizeDeps: { esbuildOptions: { target: 'es2022' } },
    // Vite looks for external packages from docs/, and would find those of the repository's root.
    ssr: { noExternal: true },
    plugins: [packagesForPages],
  },
});
