/** Serves the page, rendered with its first rows, and from the same origin the sync server. */
import { readFile } from 'node:fs/promises';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { getCookie } from 'hono/cookie';
import type { TypedSync, UserContext } from 'tidemark';
import type { Service } from 'tidemark/node';
import type { mutators } from './mutators.js';
import type { Comment, Issue, Person, Project, views } from './views.js';

/** What the server has read for the page's address. */
export interface FirstPage {
  readonly user: string;
  readonly people: readonly Person[];
  readonly projects: readonly Project[];
  /** The project in the address, or the user's first one. Undefined if there is none. */
  readonly projectID: string | undefined;
  readonly issues: readonly Issue[];
  readonly issueID: string | undefined;
  readonly comments: readonly Comment[];
}

type Render = (firstPage: FirstPage) => string;

const headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; " +
    "img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

type TrackerSync = TypedSync<UserContext, typeof mutators, typeof views>;

/** @param directory the output of the page's build: `web` and `page` */
export async function serveWeb(sync: TrackerSync, directory: string): Promise<Service['fetch']> {
  const template = await readFile(`${directory}/web/index.html`, 'utf8');
  const { render } = (await import(`${directory}/page/render.js`)) as { render: Render };
  const app = new Hono();
  for (const path of ['/sync/*', '/api/*', '/healthz', '/readyz']) app.all(path, (c) => sync.fetch(c.req.raw, c.env));
  const assets = serveStatic({
    root: `${directory}/web`,
    onFound: (_, c) => c.header('Cache-Control', 'public, max-age=31536000, immutable'),
  });
  app.get('/assets/*', compress(), assets);
  app.get('/', (c) => c.redirect('/ann'));
  app.get('/:user{[a-z]+}/:projectID?/:issueID?', compress(), async (c) => {
    const firstPage = await readFirstPage(sync, c.req.param());
    const theme = getCookie(c, 'theme') ?? '';
    const parts = new Map([
      ['%theme%', /^(light|dark)$/.test(theme) ? theme : 'auto'],
      ['%page%', render(firstPage)],
      ['"%data%"', JSON.stringify(firstPage).replaceAll('<', '\\u003c')],
    ]);
    const html = template.replace(/"%data%"|%\w+%/g, (mark) => parts.get(mark) ?? mark);
    return c.html(html, 200, headers);
  });
  app.notFound((c) => c.text('There is nothing at this address.\n', 404, headers));
  return (request, env) => app.fetch(request, env as object);
}

interface Address {
  readonly user: string;
  readonly projectID?: string | undefined;
  readonly issueID?: string | undefined;
}

async function readFirstPage(sync: TrackerSync, { user, projectID: wanted, issueID }: Address): Promise<FirstPage> {
  const as = sync.as({ userID: user });
  const [{ rows: projects }, { rows: people }] = await Promise.all([
    as.view('project').rows(),
    as.view('person').rows(),
  ]);
  const projectID = wanted ?? projects[0]?.id;
  const issues = projectID ? (await as.view('issue', { projectID }).rows()).rows : [];
  const comments = issueID ? (await as.view('comment', { issueID }).rows()).rows : [];
  return { user, people, projects, projectID, issues, issueID, comments };
}
