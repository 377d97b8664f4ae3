import type { Exposition, Measurements } from './exposition.js';
import type { CounterName, HistogramName } from './instruments.js';
import { loadOpenTelemetry, type OpenTelemetry } from './open-telemetry.js';
import { Prometheus } from './prometheus.js';
import type { Attributes, GaugeValue, Recorder } from './recorder.js';

/**
 * Lets one of several processes expose the measurements of all of them.
 * @param measure returns the measurements of this process
 */
export type ExposeTogether = (measure: () => Promise<Measurements>) => () => Promise<Exposition>;

/** The metrics and spans of a server. */
export class Telemetry {
  /** Creates spans; undefined if the application uses none. */
  readonly tracing: OpenTelemetry | undefined;
  /** Returns the metrics; undefined if Prometheus must not read them. */
  readonly exposition: (() => Promise<Exposition>) | undefined;
  readonly #openTelemetry: OpenTelemetry | undefined;
  readonly #recorders: readonly Recorder[];
  #read: () => Promise<readonly GaugeValue[]> = async () => [];
  #endObserving = () => {};

  /**
   * @param hasMetrics true if Prometheus can read the metrics. OpenTelemetry gets them whenever the application has it.
   * @param together given if this process is one of several
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
  observe(read: () => Promise<readonly GaugeValue[]>): void {
    this.#read = read;
    this.#endObserving = this.#openTelemetry?.observe(read) ?? this.#endObserving;
  }

  end(): void {
    this.#endObserving();
  }
}
