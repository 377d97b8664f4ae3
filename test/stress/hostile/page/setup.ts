/** The settings in a page's address, and the page's reports. */

export type StorageFault =
  | 'none'
  /** Every transaction that writes is aborted because there is no space. */
  | 'full'
  /** Every transaction that writes is aborted for another reason. */
  | 'aborts'
  /** No database can be opened. */
  | 'refuses'
  /** No request gets a response. */
  | 'hangs'
  /** It has closed its connections, and closes every connection on its next use. */
  | 'disconnects';

/** Functions of the platform that a page can lack. */
export type PlatformFunction =
  | 'navigator.locks'
  | 'BroadcastChannel'
  | 'AbortSignal.any'
  | 'AbortSignal.timeout'
  | 'TextDecoderStream'
  | 'Response.prototype.body'
  | 'XMLHttpRequest';

export interface PageSetup {
  readonly seed: number;
  /** The clients of the page. Clients of one user in one browser profile share their database. */
  readonly clients: readonly { readonly slot: number; readonly user: string }[];
  readonly missing: readonly PlatformFunction[];
  readonly clockOffsetMs: number;
  /** The first fault of its storage, and its duration. */
  readonly storage: { readonly fault: StorageFault; readonly ms: number };
  readonly limits: {
    readonly requests: { readonly maxHeadersMs: number; readonly maxSilenceMs: number };
    readonly stores: { readonly maxOpenMs: number; readonly maxOperationMs: number };
  };
  readonly pullInterval: number;
  /** The mean pause between two calls of a client, in milliseconds. */
  readonly pauseMs: number;
}

export type CallKind = 'add' | 'remove' | 'refuse' | 'large';

/** An event in a page. `client` is one client object in one load of the page. */
export type PageEvent =
  | { readonly type: 'opened'; readonly client: string; readonly slot: number; readonly user: string }
  | { readonly type: 'begun'; readonly client: string; readonly call: string; readonly kind: CallKind }
  /** The call has resolved. `mutation` is its client and number as in `refused`, if it is still pending. */
  | {
      readonly type: 'resolved';
      readonly client: string;
      readonly call: string;
      readonly mutation: string | null;
      readonly storage: string;
    }
  | { readonly type: 'rejected'; readonly client: string; readonly call: string; readonly code: string }
  | { readonly type: 'status'; readonly client: string; readonly state: string; readonly storage: string }
  | { readonly type: 'refused'; readonly client: string; readonly mutation: string }
  /** The status was `online` although a request or call was stuck. */
  | { readonly type: 'stuck'; readonly client: string; readonly what: string };

/** The content of a client at the end. */
export interface Shown {
  readonly client: string;
  readonly slot: number;
  readonly user: string;
  readonly state: string;
  readonly error: string | null;
  readonly storage: string;
  readonly pending: number;
  readonly entries: readonly string[];
}
