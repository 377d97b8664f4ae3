/** What is told to Prometheus, also by several processes together. */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** Measurements in the format of Prometheus. */
export interface Exposition {
  readonly text: string;
  readonly contentType: string;
}

/** What a process has measured: metrics with their values, as JSON. */
export type Measurements = readonly MetricObjectWithValues<MetricValue<string>>[];

/** All of it as one server's, for Prometheus. Counters and distributions are added up. */
export async function exposeTogether(all: readonly Measurements[]): Promise<Exposition> {
  const together = aggregated(all);
  return { text: await together.metrics(), contentType: together.contentType };
}

/**
 * What must go on counting when processes have ended: Prometheus takes a counter that falls for one that has begun anew.
 * Of a gauge, nothing remains.
 */
export async function remainsOf(all: readonly Measurements[]): Promise<Measurements> {
  const counting = all.map((measurements) => measurements.filter(({ type }) => counts.has(String(type))));
  return aggregated(counting).getMetricsAsJSON();
}

const counts: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** prom-client leaves it out. That of the youngest process tells an alert that one starts again and again. */
const startTime = 'process_start_time_seconds';

function aggregated(all: readonly Measurements[]): Registry {
  const told = all.map((one) =>
    one.map((metric) => (metric.name === startTime ? { ...metric, aggregator: 'max' as const } : metric)),
  );
  return AggregatorRegistry.aggregate(told);
}
