/** Measures pokes. */
export interface PokeMetrics {
  /** Counts a poke. */
  count(name: 'tidemark.poke.sent'): void;
  /** Records the seconds between a commit that woke the notifier and its pokes. */
  record(name: 'tidemark.poke.delay', seconds: number): void;
}
