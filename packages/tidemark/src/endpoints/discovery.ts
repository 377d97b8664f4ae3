import type { UserContext } from '../context.js';
import type { Answer } from '../http/answer.js';
import { type Authenticate, identify } from '../http/identify.js';
import type { Exchange, Route } from '../http/route.js';
import { replyTagged, type TaggedContent, tag } from '../http/tagged.js';
import type { OpenAPIDocument } from '../openapi/types.js';
import { createDocsPage, docsFiles } from './docs-page.js';

/** The options of `discoveryRoutes`. */
export interface DiscoveryRoutesOptions<Context extends UserContext> {
  /** Resolves with the document once it has been generated. */
  readonly document: Promise<OpenAPIDocument>;
  /** The document's title, for the page. */
  readonly title: string;
  /** The prefix of `/api`. */
  readonly basePath: string;
  /** Identifies the callers that can see the document and the page. Default: all callers can. */
  readonly authenticate?: Authenticate<Context> | undefined;
}

/** Creates the routes of the OpenAPI document and of the page that shows it. */
export function discoveryRoutes<Context extends UserContext>({
  document,
  title,
  basePath,
  authenticate,
}: DiscoveryRoutesOptions<Context>): Route[] {
  const methods = ['GET', 'HEAD'];
  let encoded: Promise<TaggedContent> | undefined;
  const encode = () => (encoded ??= document.then((made) => tag(JSON.stringify(made))));
  const page = createDocsPage(title);
  const route = (path: string, answer: (exchange: Exchange) => Promise<Answer>): Route => ({
    methods,
    path: `${basePath}/api/${path}`,
    handle: async (exchange) => {
      if (authenticate) await identify(exchange, authenticate);
      return answer(exchange);
    },
  });
  return [
    route('openapi.json', async ({ request }) => replyTagged(request, await encode(), {})),
    route('docs', () => page.page()),
    ...docsFiles.map((name) => route(`docs/${name}`, (exchange) => page.file(exchange, name))),
  ];
}
