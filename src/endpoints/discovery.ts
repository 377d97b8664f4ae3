import type { Answer } from '../http/answer.js';
import type { Exchange, Route } from '../http/route.js';
import { replyTagged, type TaggedContent, tag } from '../http/tagged.js';
import type { OpenAPIDocument } from '../openapi/types.js';
import { createDocsPage, docsFiles } from './docs-page.js';

/** The options of `discoveryRoutes`. */
export interface DiscoveryRoutesOptions {
  /** Resolves with the document once it has been generated. */
  readonly document: Promise<OpenAPIDocument>;
  /** The document's title, for the page. */
  readonly title: string;
  /** The prefix of `/api`. */
  readonly basePath: string;
  /** Rejects if the caller is not allowed to see the document and the page. */
  readonly admit: (exchange: Exchange) => Promise<unknown>;
}

/** Creates the routes of the OpenAPI document and of the page that shows it. */
export function discoveryRoutes({ document, title, basePath, admit }: DiscoveryRoutesOptions): Route[] {
  const methods = ['GET', 'HEAD'];
  let encoded: Promise<TaggedContent> | undefined;
  const encode = () => (encoded ??= document.then((made) => tag(JSON.stringify(made))));
  const page = createDocsPage(title);
  const route = (path: string, answer: (exchange: Exchange) => Promise<Answer>): Route => ({
    methods,
    path: `${basePath}/api/${path}`,
    handle: async (exchange) => {
      await admit(exchange);
      return answer(exchange);
    },
  });
  return [
    route('openapi.json', async ({ request }) => replyTagged(request, await encode(), {})),
    route('docs', () => page.page()),
    ...docsFiles.map((name) => route(`docs/${name}`, (exchange) => page.file(exchange, name))),
  ];
}
