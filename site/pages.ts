/** The pages of docs/ in the order of the sidebar, with the titles and descriptions that they give themselves. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const docs: string = fileURLToPath(new URL('../docs', import.meta.url));

export interface Group {
  readonly title: string;
  /** The pages' paths in docs/, without `.md`. */
  readonly pages: readonly string[];
}

export interface Page {
  readonly title: string;
  /** The page's first sentences, in plain text. */
  readonly description: string;
}

export const home = 'index';

/** The paths of all pages but the home page. */
const present: readonly string[] = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.slice(0, -'.md'.length).replaceAll('\\', '/'))
  .filter((page) => page !== home)
  .sort();

/** Returns the pages of a folder: its index, then the others in the order in which the index links to them. */
function pagesIn(folder: string): string[] {
  const index = `${folder}/index`;
  const text = readFileSync(join(docs, `${index}.md`), 'utf8');
  const pages = present.filter((page) => page.startsWith(`${folder}/`) && page !== index);
  const position = (page: string) => {
    const found = text.indexOf(`](${page.slice(folder.length + 1)}.md`);
    return found < 0 ? text.length : found;
  };
  return [index, ...pages.sort((a, b) => position(a) - position(b))];
}

export const groups: readonly Group[] = [
  {
    title: 'Start',
    pages: [
      'getting-started',
      'concepts/index',
      'concepts/client-views',
      'concepts/mutators',
      'concepts/cookies-and-pulls',
      'concepts/pokes',
    ],
  },
  {
    title: 'Guides',
    pages: [
      'views',
      'client',
      'react',
      'tanstack-db',
      'on-demand',
      'key-value',
      'rest',
      'server-code',
      'authentication',
      'mount-it',
      'nextjs',
      'tanstack-start',
      'orms',
      'partial-sync',
      'conflicts',
      'testing',
    ],
  },
  {
    title: 'Operate',
    pages: ['deployment', 'managed-postgres', 'poolers', ...pagesIn('operations'), 'tenants', 'upgrades'],
  },
  { title: 'Reference', pages: ['reference', 'errors', 'protocol'] },
  { title: 'More', pages: ['comparison', 'migrate-from-replicache', 'migrate-from-zero', 'faq'] },
];

/** Lists how the sidebar differs from the files of docs/. */
export function findProblems(): string[] {
  const listed = groups.flatMap(({ pages }) => pages);
  return [
    ...listed.filter((page) => !present.includes(page)).map((page) => `docs/${page}.md is listed, but does not exist`),
    ...present.filter((page) => !listed.includes(page)).map((page) => `docs/${page}.md is missing in site/pages.ts`),
    ...listed.filter((page, i) => listed.indexOf(page) < i).map((page) => `docs/${page}.md is listed twice`),
  ];
}

const maxDescription = 160;

function plainText(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Returns the first sentence, and those after it for which there is room. */
function beginningOf(paragraph: string): string {
  const [first = '', ...others] = paragraph.split(/(?<=\.)\s+(?=[A-Z`])/).map(plainText);
  let description = first;
  for (const sentence of others) {
    if (description.length + 1 + sentence.length > maxDescription) break;
    description += ` ${sentence}`;
  }
  return description.replace(/:$/, '.');
}

/** Reads a page's heading and the first paragraph below it, before any other heading. */
export function parsePage(markdown: string): Page {
  const [, title = '', text = ''] = /^# (.+)\n+([\s\S]*)$/m.exec(markdown) ?? [];
  const [introduction = ''] = text.replace(/^(`{3,})[\s\S]*?^\1$/gm, '').split(/^#/m);
  const paragraph = introduction.split(/\n{2,}/).find((lines) => /^[\w`*["]/.test(lines)) ?? '';
  return { title: plainText(title), description: beginningOf(paragraph) };
}

export function readPage(page: string): Page {
  return parsePage(readFileSync(join(docs, `${page}.md`), 'utf8'));
}

/** Returns a page's address on the site: `views.html`, or `concepts/` for its index. */
export function addressOf(page: string): string {
  return page.endsWith('/index') ? page.slice(0, -'index'.length) : `${page}.html`;
}

/** Returns llms.txt, the list of all pages for language models: see https://llmstxt.org. */
export function llmsText(name: string, summary: string, base: string): string {
  const sections = groups.map(({ title, pages }) => {
    const lines = pages.map((page) => {
      const { title, description } = readPage(page);
      return `- [${title}](${base}${addressOf(page)}): ${description}\n`;
    });
    return `\n## ${title}\n\n${lines.join('')}`;
  });
  return `# ${name}\n\n> ${summary}\n${sections.join('')}`;
}
