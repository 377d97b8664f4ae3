/** The routes that read views, without a client group. */
import type { UserContext } from '../../context.js';
import { isOfValues } from '../../db/sqlstate.js';
import { Problem } from '../../errors.js';
import { type Answer, type JSONAnswer, type Reply, withHeaders } from '../../http/answer.js';
import { type Authenticate, type Caller, type IdentifiedCaller, identify } from '../../http/identify.js';
import { preferenceOf } from '../../http/negotiation.js';
import type { Exchange, Route } from '../../http/route.js';
import { type Delivery, deliver } from '../../http/sending/deliver.js';
import { replyTagged, tag } from '../../http/tagged.js';
import { isStorableText } from '../../protocol/fields.js';
import { toPathSegment } from '../../protocol/path-segment.js';
import { cookieIn, tokenOf } from '../../protocol/read-token.js';
import type { PatchResult } from '../../pulls/pull-result.js';
import type { ViewPart } from '../../view/client-views.js';
import type { ListedView } from '../../view/listed-views.js';
import type { PullService } from '../pulls/pull-service.js';
import type { Watches } from '../subscriptions/watches.js';
import { QueryArgs } from './query-args.js';
import { noOps, opsAsObject, rowsAsArray, rowsAsLines, rowsText } from './read-answer.js';
import { unreadableArgs } from './view-args.js';
import {
  entityTag,
  partIn,
  readViewRequest,
  unknownView,
  type ViewMediaType,
  type ViewRequest,
} from './view-requests.js';
import { openViewStream } from './view-streams.js';

/** The options of `viewRoutes`. */
export interface ViewRoutesOptions<Context extends UserContext> extends Delivery {
  readonly views: readonly ListedView[];
  readonly pulls: Pick<PullService<Context>, 'read'>;
  readonly watches: Watches<Context>;
  readonly authenticate: Authenticate<Context>;
  /** The prefix of `/api/views`. */
  readonly basePath: string;
  /** The schema versions that the application serves; all if undefined. */
  readonly schemaVersions: readonly string[] | undefined;
}

/** Creates the routes of the list of views, of each view, and of each row. */
export function viewRoutes<Context extends UserContext>(options: ViewRoutesOptions<Context>): Route[] {
  const { views, basePath, authenticate } = options;
  const root = `${basePath}/api/views`;
  const methods = ['GET', 'HEAD'];
  const byName = new Map(views.map((view) => [view.name, view]));
  const queryArgs = new QueryArgs();
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
      handle: (exchange) => handleRead(exchange, options, `${root}/`, byName, queryArgs),
    },
  ];
}

async function handleRead<Context extends UserContext>(
  exchange: Exchange,
  options: ViewRoutesOptions<Context>,
  prefix: string,
  views: ReadonlyMap<string, ListedView>,
  queryArgs: QueryArgs,
): Promise<Answer> {
  const caller = await identify(exchange, options.authenticate);
  const named = partIn(exchange.request.url, prefix);
  const view = named && views.get(named.view);
  if (!view) throw unknownView();
  // No row can have a key that Postgres cannot store.
  if (named.key !== undefined && !isStorableText(named.key)) throw unknownKey();
  const { url, headers } = exchange.request;
  const isStrict = preferenceOf(headers, 'handling') === 'strict';
  const args = await queryArgs.read(view.args, new URL(url).searchParams, isStrict);
  const viewRequest = readViewRequest(exchange.request, { ...named, args }, options.schemaVersions);
  if (viewRequest.type === 'text/event-stream') {
    return isHead(exchange.request)
      ? { kind: 'reply', headers: { 'Content-Type': viewRequest.type }, body: null }
      : openViewStream(viewRequest, caller, options);
  }
  const { since } = viewRequest;
  try {
    return await (since === undefined
      ? readRows(exchange, viewRequest, caller, options)
      : readOps(exchange, viewRequest, since, caller, options));
  } catch (error) {
    if (view.args && isOfValues(error)) throw unreadableArgs(error);
    throw error;
  }
}

/** Returns the headers of every answer except streams. */
function headersFor({ waitMs }: ViewRequest): Reply['headers'] {
  return {
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding',
    ...(waitMs > 0 && { 'Preference-Applied': `wait=${waitMs / 1000}` }),
  };
}

async function readRows<Context extends UserContext>(
  { request }: Exchange,
  viewRequest: ViewRequest,
  caller: IdentifiedCaller<Context>,
  options: ViewRoutesOptions<Context>,
): Promise<Answer> {
  const { ifNoneMatch, type } = viewRequest;
  const patch = await readOrWait('rows', ifNoneMatch.token, viewRequest, caller, options);
  const headers = { ...headersFor(viewRequest), 'Content-Type': type };
  if (!patch) return { kind: 'reply', status: 304, headers: { ...headers, ETag: ifNoneMatch.tag! }, body: null };
  const token = tokenOf(patch.cookie);
  const answer = await rowsAs(type, viewRequest.part, patch);
  if (ifNoneMatch.any || isHead(request)) {
    if (answer.kind === 'json in pieces') await patch.more?.close();
    const status = ifNoneMatch.any ? 304 : 200;
    return { kind: 'reply', status, headers: { ...headers, ...entityTag(token, type, false) }, body: null };
  }
  const delivered = await deliver(answer, request, caller, options);
  const isCompressed = delivered.kind !== 'json' && delivered.headers?.['Content-Encoding'] !== undefined;
  return withHeaders(delivered, { ...headers, ...entityTag(token, type, isCompressed) });
}

async function rowsAs(type: ViewMediaType, { key }: ViewPart, patch: PatchResult): Promise<JSONAnswer> {
  if (key === undefined) {
    const write = type === 'application/x-ndjson' ? rowsAsLines : rowsAsArray;
    return { kind: 'json in pieces', pieces: write(patch) };
  }
  const text = await rowsText(patch);
  if (text === undefined) throw unknownKey();
  return { kind: 'json', text };
}

async function readOps<Context extends UserContext>(
  { request }: Exchange,
  viewRequest: ViewRequest,
  since: string,
  caller: IdentifiedCaller<Context>,
  options: ViewRoutesOptions<Context>,
): Promise<Answer> {
  const patch = await readOrWait('ops', since, viewRequest, caller, options);
  if (isHead(request)) {
    await patch?.more?.close();
    return { kind: 'reply', headers: headersFor(viewRequest), body: null };
  }
  const answer: JSONAnswer = patch
    ? { kind: 'json in pieces', pieces: opsAsObject(patch) }
    : { kind: 'json', text: noOps(since) };
  const delivered = await deliver(answer, request, caller, options);
  return withHeaders(delivered, headersFor(viewRequest));
}

/**
 * Reads what is new since a token. If nothing is, waits for a change, as long as the caller is willing to.
 * @returns undefined if there is nothing new
 * @throws Problem, like `Watches.open` and a `ReadRoute`; and the refusal, if the caller is no longer allowed to wait
 */
async function readOrWait<Context extends UserContext>(
  format: 'ops' | 'rows',
  token: string | undefined,
  viewRequest: ViewRequest,
  caller: IdentifiedCaller<Context>,
  { pulls, watches }: ViewRoutesOptions<Context>,
): Promise<PatchResult | undefined> {
  const request = { ...viewRequest, format, cookie: cookieIn(token ?? '') };
  const readOnce = async (from: Caller<Context>, isFollowing: boolean) => {
    const pulled = await pulls.read({ ...request, isFollowing }, from);
    return 'cookie' in pulled ? pulled : undefined;
  };
  const patch = await readOnce(caller, false);
  if (patch || viewRequest.waitMs === 0) return patch;
  const until = performance.now() + viewRequest.waitMs;
  const watch = await watches.open(caller, viewRequest);
  try {
    for (;;) {
      // The request outlasts its reads, so their annotations would not describe it.
      const newPatch = await readOnce({ ...caller, context: watch.context, annotations: undefined }, true);
      const leftMs = until - performance.now();
      const isOver = newPatch !== undefined || leftMs <= 0 || (await watch.waitForChange(leftMs)) !== 'changed';
      if (watch.refusal) {
        await newPatch?.more?.close();
        throw watch.refusal;
      }
      if (isOver) return newPatch;
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
