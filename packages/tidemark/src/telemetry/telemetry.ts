import type { Exposition, MeasurementSource, Measurements, ProcessGroup } from './exposition.js';
import type { CounterName, HistogramName } from './instruments.js';
import { loadOpenTelemetry, type OpenTelemetry } from './open-telemetry.js';
import { Prometheus } from './prometheus.js';
import type { Attributes, GaugeReader, GaugeValue, Recorder } from './recorder.js';

/** The metrics and spans of a server. */
export class Telemetry implements MeasurementSource {
  /** Creates spans; undefined if the application uses none. */
  readonly tracing: OpenTelemetry | undefined;
  readonly #prometheus: Prometheus | undefined;
  readonly #openTelemetry: OpenTelemetry | undefined;
  readonly #recorders: readonly Recorder[];
  readonly #processes: ProcessGroup | undefined;
  #gauges: GaugeReader | undefined;
  #endObserving = () => {};

  /**
   * @param hasMetrics true if Prometheus can read the metrics. OpenTelemetry gets them whenever the application has it.
   * @param processes given if this process is one of several
   */
  static async start(hasMetrics: boolean, processes?: ProcessGroup): Promise<Telemetry> {
    return new Telemetry(hasMetrics ? new Prometheus() : undefined, await loadOpenTelemetry(), processes);
  }

  private constructor(
    prometheus: Prometheus | undefined,
    openTelemetry: OpenTelemetry | undefined,
    processes: ProcessGroup | undefined,
  ) {
    this.#prometheus = prometheus;
    this.#openTelemetry = openTelemetry;
    this.#processes = processes;
    this.tracing = openTelemetry?.isTracing ? openTelemetry : undefined;
    this.#recorders = [prometheus, openTelemetry].filter((one) => one !== undefined);
    if (prometheus) processes?.setSource(this);
  }

  /** True if Prometheus can read the metrics. Otherwise, `measure` and `expose` reject. */
  get isExposed(): boolean {
    return this.#prometheus !== undefined;
  }

  /** Returns the measurements of this process. */
  async measure(): Promise<Measurements> {
    return this.#prometheus!.measurements(await this.#readGauges());
  }

  /** Returns the metrics, including those of the other processes of the server. */
  async expose(): Promise<Exposition> {
    if (this.#processes) return this.#processes.expose();
    const prometheus = this.#prometheus!;
    return { text: await prometheus.text(await this.#readGauges()), contentType: prometheus.contentType };
  }

  record(name: HistogramName, value: number, attributes: Attributes = {}): void {
    for (const recorder of this.#recorders) recorder.record(name, value, attributes);
  }

  count(name: CounterName, attributes: Attributes = {}): void {
    for (const recorder of this.#recorders) recorder.record(name, 1, attributes);
  }

  /** Reads these gauges from now on. */
  observe(gauges: GaugeReader): void {
    this.#gauges = gauges;
    this.#endObserving = this.#openTelemetry?.observe(gauges) ?? this.#endObserving;
  }

  end(): void {
    this.#endObserving();
  }

  async #readGauges(): Promise<readonly GaugeValue[]> {
    return this.#gauges?.read() ?? [];
  }
}
