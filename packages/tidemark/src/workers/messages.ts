/** The messages between the processes of one server. */
import type { Exposition, Measurements } from '../telemetry/exposition.js';

/** A message to a worker. */
export type WorkerCommand =
  /** Serve the connection that comes with this message. */
  | { readonly kind: 'connection'; readonly id: number }
  /** Announce in each response that it is the last on its connection. */
  | { readonly kind: 'drain'; readonly isReplaced: boolean }
  /** Answer the pending requests, and exit. No more connections follow. */
  | { readonly kind: 'end' }
  /** Send the measurements. */
  | { readonly kind: 'measure'; readonly id: number }
  /** The answer to `metrics`. */
  | ({ readonly kind: 'exposition'; readonly id: number } & Exposition);

/** A message from a worker. */
export type WorkerMessage =
  /** The worker can serve. */
  | { readonly kind: 'ready'; readonly paths: ServedPaths | null }
  /** The worker cannot start. The text is for the person who started the server. */
  | { readonly kind: 'failed'; readonly text: string }
  /** The worker has received the connection, and now owns it. */
  | { readonly kind: 'taken'; readonly id: number }
  /** The answer to `measure`. */
  | { readonly kind: 'measured'; readonly id: number; readonly measurements: Measurements }
  /** The worker's last message. */
  | { readonly kind: 'ending'; readonly measurements: Measurements }
  /** The worker requests the measurements of all workers. */
  | { readonly kind: 'metrics'; readonly id: number };

/** The paths at which clients pull and push. Unspecified for tenants, which can have any. */
export interface ServedPaths {
  readonly pull: string;
  readonly push: string;
}
