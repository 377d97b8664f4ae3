import type { Answer } from './answer.js';
import type { Exchange } from './exchange.js';

/** An endpoint. */
export interface Route {
  /** All others are refused with 405. */
  readonly methods: readonly string[];
  /** As Hono writes paths. */
  readonly path: string;
  readonly handle: (exchange: Exchange) => Promise<Answer>;
}
