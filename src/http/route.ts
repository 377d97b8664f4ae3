import type { Answer } from './answer.js';
import type { Exchange } from './exchange.js';

/** An endpoint. */
export interface Route {
  /** The allowed methods. Others are refused with 405. */
  readonly methods: readonly string[];
  /** The path, in Hono's syntax. */
  readonly path: string;
  readonly handle: (exchange: Exchange) => Promise<Answer>;
}
