/** The instruments, by their OpenTelemetry names, from which Prometheus's names are derived. */

/** The properties of an instrument. */
export interface Instrument {
  /** In UCUM, as in OpenTelemetry. */
  readonly unit: 's' | 'By' | '1';
  readonly description: string;
  /** The names of the attributes that distinguish its series. */
  readonly attributes?: readonly string[] | undefined;
  /** How to aggregate the values of several processes. Default: their sum. */
  readonly aggregation?: 'max' | undefined;
}

/** A distribution. */
export interface HistogramInstrument extends Instrument {
  /** The upper bounds of the buckets. */
  readonly buckets: readonly number[];
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const bytes = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const counts = [0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000];

export type HistogramName =
  | 'tidemark.request.duration'
  | 'tidemark.pull.duration'
  | 'tidemark.pull.ops'
  | 'tidemark.pull.size'
  | 'tidemark.push.mutations'
  | 'tidemark.mutator.duration'
  | 'tidemark.poke.delay';

export type CounterName = 'tidemark.pull.requests' | 'tidemark.poke.sent' | 'tidemark.standby.fallback';

export type GaugeName =
  | 'tidemark.poke.lag'
  | 'tidemark.poke.streams'
  | 'tidemark.connections'
  | 'tidemark.connections.pending'
  | 'tidemark.semaphore.running'
  | 'tidemark.semaphore.waiting'
  | 'tidemark.body.memory'
  | 'tidemark.spool.size'
  | 'tidemark.consistency.differences'
  | 'tidemark.change_log.size'
  | 'tidemark.change_log.rows'
  | 'tidemark.change_log.reach'
  | 'tidemark.change_log.held_back'
  | 'tidemark.tenants'
  | 'tidemark.standby.used'
  | 'tidemark.standby.lag'
  | 'tidemark.event_loop.lag';

export const histograms: Readonly<Record<HistogramName, HistogramInstrument>> = {
  'tidemark.request.duration': {
    unit: 's',
    description: 'Time until a request was answered; for a stream, until its end.',
    attributes: ['route', 'status'],
    buckets: seconds,
  },
  'tidemark.pull.duration': {
    unit: 's',
    description:
      'Time until a pull, or a read of a view that does not wait, was answered to its end. The reason is that of a reset; the kind `views` means that some of the views had changed.',
    attributes: ['kind', 'reason'],
    buckets: seconds,
  },
  'tidemark.pull.ops': {
    unit: '1',
    description: 'Number of ops in the patch of a pull.',
    attributes: ['kind'],
    buckets: counts,
  },
  'tidemark.pull.size': {
    unit: 'By',
    description: 'Size of the answer to a pull, as it was sent.',
    attributes: ['kind'],
    buckets: bytes,
  },
  'tidemark.push.mutations': {
    unit: '1',
    description: 'Number of mutations in a push.',
    buckets: counts,
  },
  'tidemark.mutator.duration': {
    unit: 's',
    description: 'Time that a mutator ran. It may run again for the same mutation or call.',
    attributes: ['mutator', 'outcome'],
    buckets: seconds,
  },
  'tidemark.poke.delay': {
    unit: 's',
    description: 'Time from the end of a push or call on this server until the subscribers it concerns were poked.',
    buckets: seconds,
  },
};

export const counters: Readonly<Record<CounterName, Instrument>> = {
  'tidemark.pull.requests': {
    unit: '1',
    description: 'Pulls, by the schema version of the client: one of the option `schemaVersions`, or `other`.',
    attributes: ['version'],
  },
  'tidemark.poke.sent': { unit: '1', description: 'Pokes sent to clients.' },
  'tidemark.standby.fallback': {
    unit: '1',
    description: 'Pulls and reads that the primary answered, since a standby could not, and why.',
    attributes: ['reason'],
  },
};

export const gauges: Readonly<Record<GaugeName, Instrument>> = {
  'tidemark.poke.lag': {
    unit: 's',
    description: 'Time since the change log was last read for pokes.',
    aggregation: 'max',
  },
  'tidemark.poke.streams': {
    unit: '1',
    description: 'Open streams of pokes and of views, and reads that wait for a change.',
  },
  'tidemark.connections': {
    unit: '1',
    description: 'Connections to the database.',
    attributes: ['state'],
  },
  'tidemark.connections.pending': { unit: '1', description: 'Statements that wait for a connection.' },
  'tidemark.semaphore.running': {
    unit: '1',
    description: 'Work that holds a permit of a semaphore.',
    attributes: ['semaphore'],
  },
  'tidemark.semaphore.waiting': {
    unit: '1',
    description: 'Work that waits for a permit of a semaphore.',
    attributes: ['semaphore'],
  },
  'tidemark.body.memory': { unit: 'By', description: 'Request bodies in memory.' },
  'tidemark.spool.size': { unit: 'By', description: 'Bytes in temporary files, for slow clients.' },
  'tidemark.consistency.differences': {
    unit: '1',
    description: 'Client views that differed from the database.',
  },
  'tidemark.change_log.size': { unit: 'By', description: 'Size of the change log on disk.', aggregation: 'max' },
  'tidemark.change_log.rows': {
    unit: '1',
    description: 'Rows in the change log, as Postgres estimates.',
    aggregation: 'max',
  },
  'tidemark.change_log.reach': {
    unit: 's',
    description: 'How far back the change log reaches: an older cookie is reset.',
    aggregation: 'max',
  },
  'tidemark.change_log.held_back': {
    unit: 's',
    description: 'Time for which the oldest open transaction has kept old rows from being deleted.',
    aggregation: 'max',
  },
  'tidemark.tenants': {
    unit: '1',
    description: 'Tenants that are open, those of them that are busy, and others that cannot be opened.',
    attributes: ['state'],
  },
  'tidemark.standby.used': {
    unit: '1',
    description: 'Whether a standby is read from.',
    attributes: ['standby'],
    aggregation: 'max',
  },
  'tidemark.standby.lag': {
    unit: 's',
    description: 'Time for which a standby has not shown everything.',
    attributes: ['standby'],
    aggregation: 'max',
  },
  'tidemark.event_loop.lag': {
    unit: 's',
    description: 'Longest time for which the event loop was blocked since the last reading.',
    aggregation: 'max',
  },
};

const suffixes = { s: '_seconds', By: '_bytes', 1: '' };

/**
 * Returns the name in Prometheus, by its conventions and OpenTelemetry's rules, without the suffix of a counter.
 * @see https://prometheus.io/docs/practices/naming/
 */
export function prometheusName(name: string, { unit }: Instrument): string {
  return `${name.replaceAll('.', '_')}${suffixes[unit]}`;
}
