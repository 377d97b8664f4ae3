/** What the processes of one server tell each other. */
import type { Exposition, Measurements } from '../telemetry/exposition.js';

/** To a worker. */
export type Order =
  /** Comes with a connection, to be served. */
  | { readonly kind: 'connection'; readonly id: number }
  /** Say that each response is the last of its connection. */
  | { readonly kind: 'drain'; readonly isReplaced: boolean }
  /** Answer what has been asked, and end. No connection comes any more. */
  | { readonly kind: 'end' }
  /** Say what has been measured. */
  | { readonly kind: 'measure'; readonly id: number }
  /** What was asked for with `metrics`. */
  | ({ readonly kind: 'exposition'; readonly id: number } & Exposition);

/** From a worker. */
export type Report =
  /** It can serve. */
  | { readonly kind: 'ready'; readonly served: Served | null }
  /** It cannot start; the text is for whoever started the server. */
  | { readonly kind: 'failed'; readonly text: string }
  /** It has a connection, which is now its own. */
  | { readonly kind: 'taken'; readonly id: number }
  /** The answer to `measure`. */
  | { readonly kind: 'measured'; readonly id: number; readonly measurements: Measurements }
  /** Its last words. */
  | { readonly kind: 'ending'; readonly measurements: Measurements }
  /** Somebody wants to know what all workers have measured. */
  | { readonly kind: 'metrics'; readonly id: number };

/** Where clients pull and push: paths. Tenants may have any, so nothing is said of them. */
export interface Served {
  readonly pull: string;
  readonly push: string;
}
