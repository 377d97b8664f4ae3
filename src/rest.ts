import type { UserContext } from './context.js';
import { discoveryRoutes } from './endpoints/discovery.js';
import { restRoutes } from './endpoints/rest.js';
import { createApp } from './http/app.js';
import { type BodyLimitOptions, bodyLimits } from './http/body.js';
import type { Exchange } from './http/exchange.js';
import { type Authenticate, identify } from './http/identify.js';
import type { Route } from './http/route.js';
import { describeError, jsonLog, type Logger } from './log.js';
import { createDocument, type DocumentResult, defaultInfo } from './openapi/document.js';
import type { Info, SecurityScheme } from './openapi/types.js';
import type { Mutators } from './registry/mutators.js';
import { type Registry, toMutators, type Validators } from './registry/registry.js';
import type { Query } from './store/idempotency-keys.js';
import { Calls, type CallTransaction } from './writes/calls.js';
import type { Transact } from './writes/mutate.js';

/** How the REST surface is served. */
export interface RestOptions {
  /** Who may see the OpenAPI document and the page that shows it. Default `public`. */
  readonly discovery?: 'public' | 'authenticated' | 'off' | undefined;
  /** What the document says of the application. Default: a title and a version. */
  readonly info?: Info | undefined;
  /** How callers authenticate, as the document says it. Default: a bearer token. */
  readonly securityScheme?: SecurityScheme | undefined;
  /** How long the answer to a call with an `Idempotency-Key` is kept, in seconds. Default: a day. */
  readonly idempotencyRetentionSeconds?: number | undefined;
}

export interface CreateRestOptions<Context extends UserContext, Tx> extends RestOptions {
  /** What `defineMutators` returns: this library's, or that of `@rocicorp/zero`. */
  readonly mutators: Registry<Tx, Context>;
  /** Validators for mutators that bring none, by name. */
  readonly validators?: Validators | undefined;
  /**
   * Runs work in a transaction of the application's database, commits when it succeeds, and rolls back when it fails.
   */
  readonly transact: Transact<Tx>;
  /**
   * Runs a statement in such a transaction and returns its rows. With it, calls may carry an `Idempotency-Key`; the
   * database must have been migrated by `migrate`.
   */
  readonly query?: ((tx: Tx, text: string, values: readonly unknown[]) => Promise<Iterable<unknown>>) | undefined;
  /** Says who sends a request; null answers 401. */
  readonly authenticate: Authenticate<Context>;
  /** What stands before every path: `/api/…`. Default: nothing. */
  readonly basePath?: string | undefined;
  /** The largest request bodies, in bytes. */
  readonly limits?: Pick<BodyLimitOptions, 'call'> | undefined;
  /** Where log lines go. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

export interface Rest {
  /** Answers a request; never rejects. */
  fetch(request: Request, env?: unknown): Promise<Response>;
}

/**
 * Serves mutators to REST callers, without pulls and pushes.
 * @throws SetupError when the registry or the validators are not what they should be; the message says what to do.
 */
export function createRest<Context extends UserContext = UserContext, Tx = unknown>(
  options: CreateRestOptions<Context, Tx>,
): Rest {
  const { transact, query, authenticate, basePath = '', limits } = options;
  const log = options.log ?? jsonLog();
  const routes = restSurface({
    ...options,
    mutators: toMutators(options.mutators, options.validators),
    transact: (work) => transact((tx) => work({ tx, query: query && ((text, values) => query(tx, text, values)) })),
    authenticate,
    basePath,
    idempotent: query !== undefined,
    limit: bodyLimits(limits).call,
    log,
  });
  return createApp(routes, log);
}

export interface RestSurfaceOptions<Context extends UserContext, Tx> extends RestOptions {
  readonly mutators: Mutators<Tx, Context>;
  readonly transact: Transact<CallTransaction<Tx>>;
  readonly authenticate: Authenticate<Context>;
  readonly basePath: string;
  /** Whether its transactions take idempotency keys. */
  readonly idempotent: boolean;
  readonly limit: number;
  readonly log: Logger;
}

const day = 24 * 60 * 60;

/** The routes of the REST surface. What its document cannot say is warned about as soon as that is made. */
export function restSurface<Context extends UserContext, Tx>(options: RestSurfaceOptions<Context, Tx>): Route[] {
  const { mutators, transact, authenticate, basePath, limit, log } = options;
  const { discovery = 'public', idempotencyRetentionSeconds = day } = options;
  const calls = new Calls({ mutators, transact, keyRetentionSeconds: idempotencyRetentionSeconds });
  const routes = restRoutes({ calls, authenticate, basePath, limit });
  if (discovery === 'off') return routes;

  const described = describeRest(options, options.idempotent);
  const document = described.then(({ document, warnings }) => {
    for (const warning of warnings) log.warn({ warning }, 'The OpenAPI document does not say everything of a mutator');
    return document;
  });
  document.catch((error: unknown) => log.error({ error: describeError(error) }, 'The OpenAPI document cannot be made'));
  const admit = async (exchange: Exchange) => discovery === 'public' || (await identify(exchange, authenticate));
  return [...routes, ...discoveryRoutes({ document, title: (options.info ?? defaultInfo).title, basePath, admit })];
}

/** Makes the OpenAPI document of mutators as they are served with these options. */
export function describeRest<Context, Tx>(
  options: RestOptions & { readonly mutators: Mutators<Tx, Context>; readonly basePath?: string | undefined },
  idempotent: boolean,
): Promise<DocumentResult> {
  const { mutators, info, securityScheme, basePath = '' } = options;
  return createDocument({
    mutators,
    basePath,
    idempotent,
    info,
    securityScheme,
  });
}

/** The transactions of a `pg` client, as calls need them. */
export function queryOn(client: { query(text: string, values: unknown[]): Promise<{ rows: unknown[] }> }): Query {
  return async (text, values) => (await client.query(text, [...values])).rows;
}
