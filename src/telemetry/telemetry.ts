import type { Exposition, Measurements } from './exposition.js';
import type { CounterName, HistogramName } from './instruments.js';
import { loadOpenTelemetry, type OpenTelemetry } from './open-telemetry.js';
import { Prometheus } from './prometheus.js';
import type { Attributes, Reading, Recorder } from './recorder.js';

/**
 * How a process that is one of several tells what all of them have measured.
 * @param own returns what this one has measured
 */
export type ExposeTogether = (own: () => Promise<Measurements>) => () => Promise<Exposition>;

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

  /**
   * @param hasMetrics whether Prometheus may read them. To OpenTelemetry, they go as soon as the application has it.
   * @param together if this process is one of several
   */
  static async start(hasMetrics: boolean, together?: ExposeTogether): Promise<Telemetry> {
    return new Telemetry(hasMetrics ? new Prometheus() : undefined, await loadOpenTelemetry(), together);
  }

  private constructor(
    prometheus: Prometheus | undefined,
    openTelemetry: OpenTelemetry | undefined,
    together: ExposeTogether = () => async () => ({
      text: await prometheus!.text(await this.#read()),
      contentType: prometheus!.contentType,
    }),
  ) {
    this.#openTelemetry = openTelemetry;
    this.tracing = openTelemetry?.isTracing ? openTelemetry : undefined;
    this.exposition = prometheus && together(async () => prometheus.measurements(await this.#read()));
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
