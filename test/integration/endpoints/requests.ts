import { expect } from 'vitest';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { healthRoutes, ServerReadiness } from '../../../packages/tidemark/src/endpoints/health.js';
import type { PullService } from '../../../packages/tidemark/src/endpoints/pulls/pull-service.js';
import { WantChecker } from '../../../packages/tidemark/src/endpoints/pulls/want-checker.js';
import type { PushService } from '../../../packages/tidemark/src/endpoints/push-service.js';
import { PokeStreams } from '../../../packages/tidemark/src/endpoints/subscriptions/poke-streams.js';
import { SyncEndpoints, type SyncEndpointsOptions } from '../../../packages/tidemark/src/endpoints/sync.js';
import { syncPaths } from '../../../packages/tidemark/src/endpoints/sync-paths.js';
import { json } from '../../../packages/tidemark/src/http/answer.js';
import { createApp } from '../../../packages/tidemark/src/http/app.js';
import type { Authenticate } from '../../../packages/tidemark/src/http/identify.js';
import { Admission } from '../../../packages/tidemark/src/limits/admission.js';
import type { RequestLimitOptions } from '../../../packages/tidemark/src/limits/request-limits.js';
import type { Logger } from '../../../packages/tidemark/src/log.js';
import type { NotifierState } from '../../../packages/tidemark/src/pokes/poke-notifier.js';
import type { ConsistencyState } from '../../../packages/tidemark/src/pulls/consistency-checker.js';
import type { UpkeepState } from '../../../packages/tidemark/src/store/upkeep.js';
import { sampleInput } from '../../../packages/tidemark/src/view/sample.js';
import { memoryLog } from '../../support/log.js';

export const pull = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null };
export const push = {
  pushVersion: 1,
  clientGroupID: 'g',
  profileID: 'p',
  schemaVersion: '',
  mutations: [{ id: 1, name: 'n', args: null, timestamp: 0, clientID: 'c' }],
};

type Parts = Omit<SyncEndpointsOptions<UserContext>, 'admission' | 'pulls' | 'pushes'> & {
  readonly limits: RequestLimitOptions;
  readonly authenticate: Authenticate<UserContext>;
  readonly pull: PullService<UserContext>['pull'];
  readonly push: PushService<UserContext, never>['push'];
  readonly isStopping: boolean;
  readonly ready: () => Promise<void>;
  readonly notifier: () => NotifierState;
  readonly consistencyChecks: () => ConsistencyState;
  readonly upkeep: () => UpkeepState;
};

/** An app whose parts respond immediately, except for the given ones. */
export function createPartsApp(parts: Partial<Parts>, log: Logger) {
  const admission = new Admission({ limits: parts.limits });
  const options = {
    pull: async () => json({ cookie: 1 }),
    push: async () => null,
    authenticate: () => ({ userID: 'u' }),
    pokes: new PokeStreams<UserContext>({
      replicaRouter: { subscribe: async () => () => {} },
      admission,
      wantChecker: new WantChecker({}, 0),
      authenticateMs: 60_000,
    }),
    ready: async () => {},
    isStopping: false,
    notifier: () => ({ subscribers: 0, lagMs: null }),
    consistencyChecks: () => ({ comparisons: 0, differences: 0 }),
    upkeep: () => ({ isFailing: false, heldSeconds: 0 }),
    basePath: '',
    compression: false,
    ...parts,
    admission,
  };
  const { authenticate } = options;
  const { pull: answerPull, push: answerPush } = options;
  const endpoints = new SyncEndpoints({ ...options, pulls: { pull: answerPull }, pushes: { push: answerPush } });
  const paths = syncPaths(options.basePath);
  const routes = [
    endpoints.pullRoute(paths.pull, authenticate),
    endpoints.pushRoute(paths.push, authenticate),
    endpoints.pokeRoute(paths.poke, authenticate),
  ];
  const { ready, notifier, consistencyChecks, upkeep } = options;
  const replicaRouter = { ready, notifierState: notifier, consistencyState: consistencyChecks };
  const sample = sampleInput<UserContext>({});
  const readiness = new ServerReadiness({ replicaRouter, upkeep: { state: upkeep }, sample });
  readiness.isStopping = options.isStopping;
  return createApp([...routes, ...healthRoutes(options.basePath, readiness)], log);
}

/** An app with these parts and one known user, and functions that send it requests. */
export function setUp(parts: Partial<Parts> = {}) {
  const { log, lines } = memoryLog();
  const authenticate = (request: Request) =>
    request.headers.get('Authorization') === 'secret' ? { userID: 'u' } : null;
  const app = createPartsApp({ authenticate, ...parts }, log);
  const send = (path: string, init: RequestInit & { duplex?: 'half' } = {}) =>
    app.fetch(new Request(`http://localhost${path}`, init));
  const post = (path: string, body: RequestInit['body'] | object, headers: Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      body: typeof body === 'object' && body?.constructor === Object ? JSON.stringify(body) : (body as string),
      headers: { 'Content-Type': 'application/json', Authorization: 'secret', 'X-Sync-RequestID': 'r-1-0', ...headers },
      duplex: 'half',
    });
  return { app, send, post, lines };
}

/** Expects the error format with these additional members, and returns the body. */
export async function expectProblem(response: Response, status: number, code: string, extensions: object = {}) {
  expect(response.status).toBe(status);
  expect(response.headers.get('Content-Type')).toBe('application/problem+json');
  expect(response.headers.get('Cache-Control')).toBe('private, no-store');
  const body = await response.json();
  expect(body).toEqual({
    type: `urn:problem-type:tidemark:${code}`,
    title: expect.any(String),
    status,
    detail: body.error,
    error: expect.any(String),
    code,
    requestID: response.headers.get('X-Request-ID'),
    ...extensions,
  });
  return body as { detail: string };
}
