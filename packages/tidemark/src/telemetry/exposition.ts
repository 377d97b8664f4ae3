/** Formats metrics for Prometheus, including those of several processes as one. */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** Metrics in Prometheus's format. */
export interface Exposition {
  readonly text: string;
  readonly contentType: string;
}

/** The measurements of a process: metrics with their values, as JSON. */
export type Measurements = readonly MetricObjectWithValues<MetricValue<string>>[];

/** A source of measurements: one process. */
export interface MeasurementSource {
  measure(): Promise<Measurements>;
}

/** The processes of one server, whose measurements are exposed together. */
export interface ProcessGroup {
  /** Sets the source of this process's measurements. */
  setSource(source: MeasurementSource): void;
  /** Returns the metrics of all processes. */
  expose(): Promise<Exposition>;
}

/** Combines the measurements of several processes for Prometheus. Adds up counters and distributions. */
export async function aggregateExposition(all: readonly Measurements[]): Promise<Exposition> {
  const registry = aggregate(all);
  return { text: await registry.metrics(), contentType: registry.contentType };
}

/**
 * Returns the measurements to retain when processes have ended: Prometheus takes a counter that falls for one that was
 * reset. Retains nothing of gauges.
 */
export async function retainedCounters(all: readonly Measurements[]): Promise<Measurements> {
  const counting = all.map((measurements) => measurements.filter(({ type }) => counts.has(String(type))));
  return aggregate(counting).getMetricsAsJSON();
}

const counts: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** prom-client omits this metric. The youngest process's start time lets an alert detect repeated restarts. */
const startTime = 'process_start_time_seconds';

function aggregate(all: readonly Measurements[]): Registry {
  const withAggregators = all.map((one) =>
    one.map((metric) => (metric.name === startTime ? { ...metric, aggregator: 'max' as const } : metric)),
  );
  return AggregatorRegistry.aggregate(withAggregators);
}
