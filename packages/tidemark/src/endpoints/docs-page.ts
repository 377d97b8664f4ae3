/** The documentation page: Swagger UI. It loads nothing from other servers and has no inline scripts or styles. */
import type { Reply } from '../http/answer.js';
import type { Exchange } from '../http/route.js';
import { replyTagged, type TaggedContent, tag } from '../http/tagged.js';
import { type DocsFile, readDocsFile } from './docs-files.js';

const contentTypes: Readonly<Record<DocsFile, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'docs-page.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'docs-page.js': 'text/javascript; charset=utf-8',
  'swagger-ui-bundle.js.LICENSE.txt': 'text/plain; charset=utf-8',
};

/** The names of the page's files. */
export const docsFiles: readonly DocsFile[] = Object.keys(contentTypes) as DocsFile[];

const securityHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/** Answers requests for the documentation page. */
export interface DocsPage {
  /** Answers GET of the page. Its path must not end with a slash, because its references are relative. */
  page(): Promise<Reply>;
  /** Answers GET of one of the page's files. Reads each file once, at the first request for it. */
  file(exchange: Exchange, name: DocsFile): Promise<Reply>;
}

/**
 * Creates the page at `…/docs`, which shows the document at `…/openapi.json`.
 * @param title the document's title
 * @param read reads one of the page's files
 */
export function createDocsPage(title: string, read: (name: DocsFile) => Promise<string> = readDocsFile): DocsPage {
  const html = pageOf(title);
  const files = new Map<DocsFile, TaggedContent>();
  return {
    page: async () => ({
      kind: 'reply',
      headers: { ...securityHeaders, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' },
      body: html,
    }),
    async file({ request }, name) {
      const file = files.get(name) ?? tag(await read(name));
      files.set(name, file);
      // A file keeps its name when its content changes, so browsers must revalidate it before each use.
      const headers = { ...securityHeaders, 'Content-Type': contentTypes[name], 'Cache-Control': 'public, no-cache' };
      return replyTagged(request, file, headers);
    },
  };
}

function pageOf(title: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escapeText(title)}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="stylesheet" href="docs/docs-page.css">
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/docs-page.js" defer></script>
  </head>
  <body>
    <div id="docs"></div>
    <noscript>This page needs JavaScript. Its contents are in <a href="openapi.json">openapi.json</a>.</noscript>
  </body>
</html>
`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
