import type { CounterName, GaugeName, HistogramName } from './instruments.js';

/** What tells the series of an instrument apart, by the names that the instrument has. */
export type Attributes = Readonly<Record<string, string | number>>;

/** The value that a gauge has now. */
export interface Reading {
  readonly name: GaugeName;
  readonly value: number;
  readonly attributes?: Attributes | undefined;
}

/** Where measurements go. */
export interface Recorder {
  /** Adds to a counter, or to a distribution. */
  record(name: HistogramName | CounterName, value: number, attributes: Attributes): void;
}
