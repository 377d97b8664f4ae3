import type { Exchange, Route } from '../http/route.js';
import type { Exposition } from '../telemetry/exposition.js';

/** The options of `metricsRoute`. */
export interface MetricsRouteOptions {
  readonly exposition: () => Promise<Exposition>;
  /** The prefix of `/metrics`. */
  readonly basePath: string;
  /** Rejects if the caller is not allowed to see the metrics. */
  readonly admit: (exchange: Exchange) => Promise<unknown>;
}

/** Creates the route that Prometheus scrapes. */
export function metricsRoute({ exposition, basePath, admit }: MetricsRouteOptions): Route {
  return {
    methods: ['GET', 'HEAD'],
    path: `${basePath}/metrics`,
    async handle(exchange) {
      await admit(exchange);
      const { text, contentType } = await exposition();
      return { kind: 'reply', headers: { 'Content-Type': contentType }, body: text };
    },
  };
}
