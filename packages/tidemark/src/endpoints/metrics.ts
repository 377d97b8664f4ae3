import type { UserContext } from '../context.js';
import { type Authenticate, identify } from '../http/identify.js';
import type { Route } from '../http/route.js';
import type { Telemetry } from '../telemetry/telemetry.js';

/** The options of `metricsRoute`. */
export interface MetricsRouteOptions<Context extends UserContext> {
  readonly telemetry: Pick<Telemetry, 'expose'>;
  /** The prefix of `/metrics`. */
  readonly basePath: string;
  /** Identifies the callers that can see the metrics. Default: all callers can. */
  readonly authenticate?: Authenticate<Context> | undefined;
}

/** Creates the route that Prometheus scrapes. */
export function metricsRoute<Context extends UserContext>({
  telemetry,
  basePath,
  authenticate,
}: MetricsRouteOptions<Context>): Route {
  return {
    methods: ['GET', 'HEAD'],
    path: `${basePath}/metrics`,
    async handle(exchange) {
      if (authenticate) await identify(exchange, authenticate);
      const { text, contentType } = await telemetry.expose();
      return { kind: 'reply', headers: { 'Content-Type': contentType }, body: text };
    },
  };
}
