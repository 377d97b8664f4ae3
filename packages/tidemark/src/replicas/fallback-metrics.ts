/** Why the primary answered in place of a standby. */
export type Fallback = 'behind' | 'uncertain' | 'failed';

/** Measures how often the primary answers in place of a standby. */
export interface FallbackMetrics {
  count(name: 'tidemark.standby.fallback', attributes: { readonly reason: Fallback }): void;
}
