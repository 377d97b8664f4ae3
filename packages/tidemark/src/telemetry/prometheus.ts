import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Measurements } from './exposition.js';
import {
  type CounterName,
  counters,
  gauges,
  type HistogramName,
  histograms,
  type Instrument,
  prometheusName,
} from './instruments.js';
import type { Attributes, GaugeValue, Recorder } from './recorder.js';

/** Collects measurements for Prometheus to read, along with the default metrics of a Node process. */
export class Prometheus implements Recorder {
  readonly #registry = new Registry();
  readonly #distributions = new Map<string, Histogram<string>>();
  readonly #counters = new Map<string, Counter<string>>();
  readonly #gauges = new Map<string, Gauge<string>>();
  /** Functions that record a value, by instrument and attributes. Finding a series in the metric takes longer. */
  readonly #series = new Map<string, (value: number) => void>();

  constructor() {
    for (const [name, instrument] of Object.entries(histograms)) {
      const buckets = [...instrument.buckets];
      this.#distributions.set(name, new Histogram({ ...this.#options(name, instrument), buckets }));
    }
    for (const [name, instrument] of Object.entries(counters)) {
      const options = this.#options(name, instrument);
      this.#counters.set(name, new Counter({ ...options, name: `${options.name}_total` }));
    }
    for (const [name, instrument] of Object.entries(gauges)) {
      const aggregator = instrument.aggregation ?? 'sum';
      this.#gauges.set(name, new Gauge({ ...this.#options(name, instrument), aggregator }));
    }
    collectDefaultMetrics({ register: this.#registry });
  }

  /** The media type of `text`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  record(name: HistogramName | CounterName, value: number, attributes: Attributes): void {
    const key = [name, ...Object.values(attributes)].join('\n');
    const add = this.#series.get(key) ?? this.#seriesOf(name, { ...attributes });
    this.#series.set(key, add);
    add(value);
  }

  /** Returns all measurements in Prometheus's text format, with these values of the gauges. */
  text(values: readonly GaugeValue[]): Promise<string> {
    this.#set(values);
    return this.#registry.metrics();
  }

  /** Returns all measurements as JSON, to be aggregated with those of other processes. */
  measurements(values: readonly GaugeValue[]): Promise<Measurements> {
    this.#set(values);
    return this.#registry.getMetricsAsJSON();
  }

  #set(values: readonly GaugeValue[]): void {
    for (const gauge of this.#gauges.values()) gauge.reset();
    for (const { name, value, attributes } of values) this.#gauges.get(name)!.set({ ...attributes }, value);
  }

  #options(name: string, instrument: Instrument) {
    const { description, attributes = [] } = instrument;
    const labelNames = [...attributes];
    return { name: prometheusName(name, instrument), help: description, labelNames, registers: [this.#registry] };
  }

  #seriesOf(name: string, labels: Record<string, string | number>): (value: number) => void {
    const counter = this.#counters.get(name)?.labels(labels);
    if (counter) return (value) => counter.inc(value);
    const distribution = this.#distributions.get(name)!.labels(labels);
    return (value) => distribution.observe(value);
  }
}
