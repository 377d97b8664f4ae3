/** The routes that read views, without a client group. */
import type { UserContext } from '../../context.js';
import { Problem } from '../../errors.js';
import { type Answer, type JSONAnswer, type Reply, withHeaders } from '../../http/answer.js';
import { type Authenticate, type Caller, type Identified, identify } from '../../http/identify.js';
import type { Exchange, Route } from '../../http/route.js';
import { type Delivery, deliver } from '../../http/sending/deliver.js';
import { replyTagged, tag } from '../../http/tagged.js';
import { isStorableText } from '../../protocol/fields.js';
import { fromPathSegment, toPathSegment } from '../../protocol/path-segment.js';
import { cookieIn, tokenOf } from '../../protocol/read-token.js';
import type { ReadRoute } from '../../pulls/pull-route.js';
import type { Patched } from '../../pulls/pulled.js';
import { noOps, opsAsObject, rowOf, rowsAsArray, rowsAsLines } from '../../pulls/read-answer.js';
import type { ViewPart } from '../../view/client-views.js';
import type { ListedView } from '../../view/listed-views.js';
import type { Watches } from '../listening/watches.js';
import { type Asked, entityTag, readAsked, type ViewMediaType } from './view-requests.js';
import { openViewStream } from './view-streams.js';

/** The options of `viewRoutes`. */
export interface ViewRoutesOptions<Context extends UserContext> extends Delivery {
  readonly views: readonly ListedView[];
  readonly read: ReadRoute<Context>;
  readonly watches: Watches<Context>;
  readonly authenticate: Authenticate<Context>;
  /** The prefix of `/api/views`. */
  readonly basePath: string;
  /** The schema versions that the application serves; all if undefined. */
  readonly schemaVersions: readonly string[] | undefined;
}

/** The routes of the list of views, of each view, and of each row. */
export function viewRoutes<Context extends UserContext>(options: ViewRoutesOptions<Context>): Route[] {
  const { views, basePath, authenticate } = options;
  const root = `${basePath}/api/views`;
  const methods = ['GET', 'HEAD'];
  const names = new Set(views.map(({ name }) => name));
  const links = views.map(({ name, key, keys, prefix }) => ({
    name,
    key,
    keys,
    prefix,
    href: `${root}/${toPathSegment(name)}`,
  }));
  const list = tag(JSON.stringify({ views: links }));
  const handleList = async (exchange: Exchange): Promise<Answer> => {
    await identify(exchange, authenticate);
    return replyTagged(exchange.request, list, { 'Cache-Control': 'private, no-cache' });
  };
  return [
    { methods, path: root, handle: handleList },
    {
      methods,
      path: `${root}/*`,
      handle: (exchange) => handleRead(exchange, options, `${root}/`, names),
    },
  ];
}

async function handleRead<Context extends UserContext>(
  exchange: Exchange,
  options: ViewRoutesOptions<Context>,
  prefix: string,
  names: ReadonlySet<string>,
): Promise<Answer> {
  const caller = await identify(exchange, options.authenticate);
  const part = partIn(exchange.request.url, prefix);
  if (!part || !names.has(part.view)) throw new Problem('unknown-view', 'There is no view of this name');
  // No row can have such a key.
  if (part.key !== undefined && !isStorableText(part.key)) throw unknownKey();
  const asked = readAsked(exchange.request, part, options.schemaVersions);
  if (asked.type === 'text/event-stream') {
    return isHead(exchange.request)
      ? { kind: 'reply', headers: { 'Content-Type': asked.type }, body: null }
      : openViewStream(asked, caller, options);
  }
  return asked.since === undefined
    ? readRows(exchange, asked, caller, options)
    : readOps(exchange, asked, asked.since, caller, options);
}

/** What every answer but a stream says. */
function headersFor({ waitMs }: Asked): Reply['headers'] {
  return {
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding',
    ...(waitMs > 0 && { 'Preference-Applied': `wait=${waitMs / 1000}` }),
  };
}

async function readRows<Context extends UserContext>(
  { request }: Exchange,
  asked: Asked,
  caller: Identified<Context>,
  options: ViewRoutesOptions<Context>,
): Promise<Answer> {
  const { known, type } = asked;
  const patched = await readOrWait('rows', known.token, asked, caller, options);
  const headers = { ...headersFor(asked), 'Content-Type': type };
  if (!patched) return { kind: 'reply', status: 304, headers: { ...headers, ETag: known.tag! }, body: null };
  const token = tokenOf(patched.cookie);
  const answer = await rowsAs(type, asked.part, patched);
  if (known.any || isHead(request)) {
    if (answer.kind === 'json in pieces') await patched.more?.close();
    const status = known.any ? 304 : 200;
    return { kind: 'reply', status, headers: { ...headers, ...entityTag(token, type, false) }, body: null };
  }
  const delivered = await deliver(answer, request, caller, options);
  const isCompressed = delivered.kind !== 'json' && delivered.headers?.['Content-Encoding'] !== undefined;
  return withHeaders(delivered, { ...headers, ...entityTag(token, type, isCompressed) });
}

async function rowsAs(type: ViewMediaType, { key }: ViewPart, patched: Patched): Promise<JSONAnswer> {
  if (key === undefined) {
    const write = type === 'application/x-ndjson' ? rowsAsLines : rowsAsArray;
    return { kind: 'json in pieces', pieces: write(patched) };
  }
  const text = await rowOf(patched);
  if (text === undefined) throw unknownKey();
  return { kind: 'json', text };
}

async function readOps<Context extends UserContext>(
  { request }: Exchange,
  asked: Asked,
  since: string,
  caller: Identified<Context>,
  options: ViewRoutesOptions<Context>,
): Promise<Answer> {
  const patched = await readOrWait('ops', since, asked, caller, options);
  if (isHead(request)) {
    await patched?.more?.close();
    return { kind: 'reply', headers: headersFor(asked), body: null };
  }
  const answer: JSONAnswer = patched
    ? { kind: 'json in pieces', pieces: opsAsObject(patched) }
    : { kind: 'json', text: noOps(since) };
  const delivered = await deliver(answer, request, caller, options);
  return withHeaders(delivered, headersFor(asked));
}

/**
 * Reads what is new since a token. If there is nothing, waits for it, as long as the caller would.
 * @returns undefined if there is nothing new
 * @throws Problem as `Watches.open`, and as a `ReadRoute`; and the refusal, if the caller may not wait any more
 */
async function readOrWait<Context extends UserContext>(
  form: 'ops' | 'rows',
  token: string | undefined,
  asked: Asked,
  caller: Identified<Context>,
  { read, watches }: ViewRoutesOptions<Context>,
): Promise<Patched | undefined> {
  const request = { ...asked, form, cookie: cookieIn(token ?? '') };
  const readOnce = async (from: Caller<Context>, isFollowing: boolean) => {
    const pulled = await read({ ...request, isFollowing }, from);
    return 'cookie' in pulled ? pulled : undefined;
  };
  const found = await readOnce(caller, false);
  if (found || asked.waitMs === 0) return found;
  const until = performance.now() + asked.waitMs;
  const watch = await watches.open(caller, asked);
  try {
    for (;;) {
      // The request lasts longer than its reads: what is told of it says nothing about them.
      const late = await readOnce({ ...caller, context: watch.context, tell: undefined }, true);
      const leftMs = until - performance.now();
      const isOver = late !== undefined || leftMs <= 0 || (await watch.changed(leftMs)) !== 'changed';
      if (watch.refusal) {
        await late?.more?.close();
        throw watch.refusal;
      }
      if (isOver) return late;
    }
  } finally {
    watch.end();
  }
}

function isHead({ method }: Request): boolean {
  return method === 'HEAD';
}

function unknownKey(): Problem {
  return new Problem('unknown-key', 'The view has no row with this key');
}

/**
 * The part that the path after the prefix names: a view, and perhaps a key. Slashes in a key need not be percent-encoded.
 * @returns undefined if a segment cannot be decoded
 * @throws Problem `malformed-request` for an empty segment: `todo/` is also what is left of `todo/.`
 */
function partIn(url: string, prefix: string): ViewPart | undefined {
  const segments = new URL(url).pathname.slice(prefix.length).split('/');
  if (segments.includes('')) {
    throw new Problem(
      'malformed-request',
      'The path has an empty segment. Write the keys "", "." and ".." as ~, ~. and ~.., and percent-encode the slashes of keys',
    );
  }
  const [name, ...keySegments] = segments;
  const [view, key] = [fromPathSegment(name!), fromPathSegment(keySegments.join('/'))];
  if (view === undefined) return undefined;
  if (keySegments.length === 0) return { view };
  return key === undefined ? undefined : { view, key };
}
