import type { UserContext } from './context.js';
import type { Transact } from './db/transact.js';
import { discoveryRoutes } from './endpoints/discovery.js';
import { restRoutes } from './endpoints/rest.js';
import type { MapError } from './errors.js';
import { createApp } from './http/app.js';
import type { Authenticate, Visibility } from './http/identify.js';
import type { Route } from './http/route.js';
import { Admission } from './limits/admission.js';
import type { RequestLimitOptions } from './limits/request-limits.js';
import { describeError, type Logger, resolveLogger } from './log.js';
import { createDocument, type DocumentResult, defaultInfo, defaultInfoWithViews } from './openapi/document.js';
import type { DescribedView } from './openapi/named-views.js';
import type { Info, SecurityScheme } from './openapi/types.js';
import type { Mutators } from './registry/mutators.js';
import { type Registry, toMutators, type Validators } from './registry/registry.js';
import { ApplicationTransactions } from './writes/calls/call-transactions.js';
import { Calls } from './writes/calls/calls.js';

/** The options of the REST surface. */
export interface RestOptions {
  /** Who can see the OpenAPI document and the documentation page. `off` serves neither. Default `public`. */
  readonly discovery?: Visibility | 'off' | undefined;
  /** The document's description of the application. Default: a title and a version. */
  readonly info?: Info | undefined;
  /** The document's security scheme: how callers authenticate. Default: a bearer token. */
  readonly securityScheme?: SecurityScheme | undefined;
  /** Seconds for which the answer to a call with an `Idempotency-Key` is stored. Default: a day. */
  readonly idempotencyRetentionSeconds?: number | undefined;
}

/** The options of `createRest`. */
export interface CreateRestOptions<Context extends UserContext, Tx> extends RestOptions {
  /** The result of `defineMutators`, from this library or from `@rocicorp/zero`. */
  readonly mutators: Registry<Tx, Context>;
  /** Validators for mutators that have none of their own, by name. Default: none. */
  readonly validators?: Validators | undefined;
  /**
   * Runs work in a transaction of the application's database. Commits if the work succeeds, and rolls back if it fails.
   */
  readonly transact: Transact<Tx>;
  /**
   * Runs a statement in such a transaction and returns its rows. If set, calls can carry an `Idempotency-Key`; run
   * `migrate` on the database first. Default: none.
   */
  readonly query?: ((tx: Tx, text: string, values: readonly unknown[]) => Promise<Iterable<unknown>>) | undefined;
  /** Returns who sent a request, or null for a 401 response. */
  readonly authenticate: Authenticate<Context>;
  /** Maps the application's own errors to refusals, as for `createSync`. Default: none. */
  readonly mapError?: MapError | undefined;
  /** The prefix of every path: `/api/…`. Default: none. */
  readonly basePath?: string | undefined;
  /** The size limits of requests. */
  readonly limits?: Pick<RequestLimitOptions, 'call' | 'bodies'> | undefined;
  /** Where log lines go. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

/** The result of `createRest`. */
export interface Rest {
  /** Answers a request; never rejects. */
  fetch(request: Request, env?: unknown): Promise<Response>;
}

/**
 * Serves mutators to REST callers, without pulls and pushes.
 * @throws SetupError if the registry or the validators cannot be used; the message says what to do.
 */
export function createRest<Context extends UserContext = UserContext, Tx = unknown>(
  options: CreateRestOptions<Context, Tx>,
): Rest {
  const { transact, query, authenticate, mapError, basePath = '' } = options;
  const log = resolveLogger(options.log);
  const mutators = toMutators(options.mutators, options.validators);
  const transactions = new ApplicationTransactions(transact, query);
  const keyRetentionSeconds = options.idempotencyRetentionSeconds;
  const routes = restSurface({
    ...options,
    mutators,
    calls: new Calls({ mutators, transactions, keyRetentionSeconds, mapError }),
    authenticate,
    basePath,
    idempotent: query !== undefined,
    admission: new Admission({ limits: options.limits }),
    log,
  });
  return createApp(routes, log);
}

/** The options of `restSurface`. */
export interface RestSurfaceOptions<Context extends UserContext, Tx> extends RestOptions {
  readonly mutators: Mutators<Tx, Context>;
  readonly calls: Calls<Tx, Context>;
  readonly authenticate: Authenticate<Context>;
  readonly basePath: string;
  /** True if calls can carry an `Idempotency-Key`. */
  readonly idempotent: boolean;
  readonly admission: Admission;
  readonly log: Logger;
  /** The routes that read views, and the document's descriptions of the views. Default: none. */
  readonly views?: ViewSurface | undefined;
}

/** The part of the REST surface that reads views. */
export interface ViewSurface {
  readonly routes: readonly Route[];
  readonly described: readonly DescribedView[];
}

/** Returns the REST surface's routes. Creates the document in the background, and logs what it cannot describe. */
export function restSurface<Context extends UserContext, Tx>(options: RestSurfaceOptions<Context, Tx>): Route[] {
  const { mutators, calls, views, authenticate, basePath, admission, log, discovery = 'public' } = options;
  const calling = views && mutators.size === 0 ? [] : restRoutes({ calls, authenticate, basePath, admission });
  const routes = [...calling, ...(views?.routes ?? [])];
  if (discovery === 'off') return routes;

  const described = describeRest({ ...options, views: views?.described }, options.idempotent);
  const document = described.then(({ document, warnings }) => {
    for (const warning of warnings) {
      log.warn({ warning }, 'The OpenAPI document does not fully describe a mutator or a view');
    }
    return document;
  });
  document.catch((error: unknown) => log.error({ error: describeError(error) }, 'Cannot create the OpenAPI document'));
  const { title } = options.info ?? (views ? defaultInfoWithViews : defaultInfo);
  return [
    ...routes,
    ...discoveryRoutes({ document, title, basePath, authenticate: discovery === 'public' ? undefined : authenticate }),
  ];
}

/** Creates the OpenAPI document of the mutators and views that these options serve. */
export function describeRest<Context, Tx>(
  options: RestOptions & {
    readonly mutators: Mutators<Tx, Context>;
    readonly views?: readonly DescribedView[] | undefined;
    readonly basePath?: string | undefined;
  },
  idempotent: boolean,
): Promise<DocumentResult> {
  const { mutators, views, info, securityScheme, basePath = '' } = options;
  return createDocument({
    mutators,
    views,
    basePath,
    idempotent,
    info,
    securityScheme,
  });
}
