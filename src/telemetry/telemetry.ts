import type { CounterName, HistogramName } from './instruments.js';
import { loadOpenTelemetry, type OpenTelemetry } from './open-telemetry.js';
import { Prometheus } from './prometheus.js';
import type { Attributes, Reading, Recorder } from './recorder.js';

/** Measurements in the format of Prometheus. */
export interface Exposition {
  readonly text: string;
  readonly contentType: string;
}

/** What a server tells about itself: measurements, and spans of its work. */
export class Telemetry {
  /** What makes spans; undefined if the application wants none. */
  readonly tracing: OpenTelemetry | undefined;
  /** Says what has been measured; undefined if Prometheus may not read it. */
  readonly exposition: (() => Promise<Exposition>) | undefined;
  readonly #openTelemetry: OpenTelemetry | undefined;
  readonly #recorders: readonly Recorder[];
  #read: () => Promise<readonly Reading[]> = async () => [];
  #endObserving = () => {};

  /** @param hasMetrics whether Prometheus may read them. To OpenTelemetry, they go as soon as the application has it. */
  static async start(hasMetrics: boolean): Promise<Telemetry> {
    return new Telemetry(hasMetrics ? new Prometheus() : undefined, await loadOpenTelemetry());
  }

  private constructor(prometheus: Prometheus | undefined, openTelemetry: OpenTelemetry | undefined) {
    this.#openTelemetry = openTelemetry;
    this.tracing = openTelemetry?.isTracing ? openTelemetry : undefined;
    this.exposition =
      prometheus &&
      (async () => ({ text: await prometheus.text(await this.#read()), contentType: prometheus.contentType }));
    this.#recorders = [prometheus, openTelemetry].filter((one) => one !== undefined);
  }

  record(name: HistogramName, value: number, attributes: Attributes = {}): void {
    for (const recorder of this.#recorders) recorder.record(name, value, attributes);
  }

  count(name: CounterName, attributes: Attributes = {}): void {
    for (const recorder of this.#recorders) recorder.record(name, 1, attributes);
  }

  /** @param read returns the values of the gauges */
  observe(read: () => Promise<readonly Reading[]>): void {
    this.#read = read;
    this.#endObserving = this.#openTelemetry?.observe(read) ?? this.#endObserving;
  }

  end(): void {
    this.#endObserving();
  }
}
