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
import type { Attributes, Reading, Recorder } from './recorder.js';

/** Keeps what is measured, for Prometheus to read, beside what is known about any process of Node. */
export class Prometheus implements Recorder {
  readonly #registry = new Registry();
  readonly #distributions = new Map<string, Histogram<string>>();
  readonly #counters = new Map<string, Counter<string>>();
  readonly #gauges = new Map<string, Gauge<string>>();
  /** What values are added to, by instrument and attributes: looking that up in the metric itself takes longer. */
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
      const aggregator = instrument.ofSeveral ?? 'sum';
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

  /** Everything that has been measured, in Prometheus's text format, with these values of the gauges. */
  text(readings: readonly Reading[]): Promise<string> {
    this.#set(readings);
    return this.#registry.metrics();
  }

  /** The same, to be put together with that of other processes. */
  measurements(readings: readonly Reading[]): Promise<Measurements> {
    this.#set(readings);
    return this.#registry.getMetricsAsJSON();
  }

  #set(readings: readonly Reading[]): void {
    for (const gauge of this.#gauges.values()) gauge.reset();
    for (const { name, value, attributes } of readings) this.#gauges.get(name)!.set({ ...attributes }, value);
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
