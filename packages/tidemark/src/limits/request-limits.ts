/** Limits on the size of requests, and on the bytes that a server holds for them. */
export interface RequestLimits {
  /** The largest body of a pull, in bytes. Default 1 MiB. */
  readonly pull: number;
  /** The largest body of a push, in bytes. Default 4 MiB: one push carries every mutation that is still pending. */
  readonly push: number;
  /** The largest body of a REST call or a batch, in bytes. Default 1 MiB. */
  readonly call: number;
  /** The maximum number of mutations in a push. Default 10,000. */
  readonly mutations: number;
  /** The maximum number of instances of views with arguments that a client can want. Default 200. */
  readonly wants: number;
  /** The maximum number of bytes of bodies in memory. One user can have a quarter, or one body. Default 32 MiB. */
  readonly bodies: number;
  /** The maximum number of bytes in temporary files for slow clients. One user can have a quarter. Default 1 GiB. */
  readonly spool: number;
}

/** The limits that differ from the defaults. */
export type RequestLimitOptions = { readonly [Name in keyof RequestLimits]?: RequestLimits[Name] | undefined };

const MiB = 1024 * 1024;

const defaults: RequestLimits = {
  pull: MiB,
  push: 4 * MiB,
  call: MiB,
  mutations: 10_000,
  wants: 200,
  bodies: 32 * MiB,
  spool: 1024 * MiB,
};

/** Completes the limits with the defaults. */
export function requestLimits(options: RequestLimitOptions = {}): RequestLimits {
  const overrides = Object.entries(options).filter(([, limit]) => limit !== undefined);
  return { ...defaults, ...Object.fromEntries(overrides) };
}
