import type { CounterName, GaugeName, HistogramName } from './instruments.js';

/** The attributes that distinguish the series of an instrument, by the names that the instrument declares. */
export type Attributes = Readonly<Record<string, string | number>>;

/** The current value of a gauge. */
export interface GaugeValue {
  readonly name: GaugeName;
  readonly value: number;
  readonly attributes?: Attributes | undefined;
}

/** A source of the values of gauges. */
export interface GaugeReader {
  read(): readonly GaugeValue[] | Promise<readonly GaugeValue[]>;
}

/** A destination of measurements. */
export interface Recorder {
  /** Adds to a counter, or to a distribution. */
  record(name: HistogramName | CounterName, value: number, attributes: Attributes): void;
}
