/** The names under which Prometheus finds what a server measures. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { counters, gauges, histograms, prometheusName } from '../../packages/tidemark/src/telemetry/instruments.js';

const ofNode = new Registry();
collectDefaultMetrics({ register: ofNode });

const existing = new Set([
  ...Object.entries(histograms).flatMap(([name, one]) =>
    ['bucket', 'count', 'sum'].map((suffix) => `${prometheusName(name, one)}_${suffix}`),
  ),
  ...Object.entries(counters).map(([name, one]) => `${prometheusName(name, one)}_total`),
  ...Object.entries(gauges).map(([name, one]) => prometheusName(name, one)),
  ...ofNode.getMetricsAsArray().map(({ name }) => name),
]);

/** The metrics that an expression names, and no server has. */
export function unknownMetrics(expression: string): string[] {
  const named = expression.match(/\b(tidemark|process|nodejs)_\w+/g) ?? [];
  return named.filter((name) => !existing.has(name));
}
