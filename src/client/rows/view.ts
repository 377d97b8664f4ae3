import type { DiffOperation, ReadTransaction } from '#engine';
import { Cell, type Observable } from '../observable.js';
import type { ListOptions, ReadView } from '../types.js';
import { type Place, readView } from './read.js';

/** What has happened to a row. */
export interface RowChange<Row> {
  /** The row's key, without its view's prefix. */
  readonly key: string;
  /** The row now; undefined if it has gone. */
  readonly row: Row | undefined;
  /** The row before; undefined if it is new. */
  readonly before: Row | undefined;
}

/** A view: the rows that the user sees, with the optimistic effects of what is pending. */
export interface ClientView<Row> extends ReadView<Row> {
  /** Calls the listener with the rows, and again whenever they have changed. Returns a function that stops it. */
  subscribe(listener: (rows: readonly Row[]) => void, options?: ListOptions<Row>): () => void;
  /** The rows as an observable; undefined until it has a listener and they have been read. */
  observe(options?: ListOptions<Row>): Observable<readonly Row[] | undefined>;
  /**
   * The keys of the rows that are not, or no longer, the server's, but what pending mutations have made of them. It is up
   * to date while it has a listener.
   */
  observeUnconfirmed(): Observable<ReadonlySet<string>>;
  /** Calls the listener with what has changed: first, with all rows that are there. Returns a function that stops it. */
  watch(listener: (changes: readonly RowChange<Row>[]) => void): () => void;
}

/** What views are read from. */
export interface ClientData {
  query<Result>(body: (tx: ReadTransaction) => Promise<Result>): Promise<Result>;
  subscribe<Result>(body: (tx: ReadTransaction) => Promise<Result>, onData: (result: Result) => void): () => void;
  watch(prefix: string, onDiff: (diff: readonly DiffOperation[]) => void): () => void;
  /** The keys whose values are not the server's. */
  readonly unconfirmed: Observable<ReadonlySet<string>>;
  /** True if there is no data any more: the user has signed out. */
  readonly hasEnded: boolean;
}

const none: readonly never[] = [];

export function clientView(data: ClientData, place: Place): ClientView<unknown> {
  const read = async (tx: ReadTransaction, options?: ListOptions) => readView(tx, place).list(options);
  const subscribe = (listener: (rows: readonly unknown[]) => void, options?: ListOptions) =>
    data.subscribe((tx) => read(tx, options), listener);
  return {
    get: (key) => data.query((tx) => readView(tx, place).get(key)),
    list: (options) => data.query((tx) => read(tx, options)),
    count: (options) => data.query((tx) => readView(tx, place).count(options)),
    subscribe,
    observe(options) {
      const connect = (cell: Cell<readonly unknown[] | undefined>) => subscribe((rows) => cell.set(rows), options);
      const { get, subscribe: listen } = new Cell<readonly unknown[] | undefined>(undefined, connect);
      // Without a listener, it still has the rows from before the user signed out.
      return { get: () => (data.hasEnded ? none : get()), subscribe: listen };
    },
    observeUnconfirmed: () => unconfirmedIn(data.unconfirmed, place),
    watch: (listener) => data.watch(place.prefix, (diff) => listener(diff.map((op) => rowChange(op, place)))),
  };
}

function rowChange({ key, newValue, oldValue }: DiffOperation, { prefix }: Place): RowChange<unknown> {
  return { key: key.slice(prefix.length), row: newValue, before: oldValue };
}

function unconfirmedIn(
  unconfirmed: Observable<ReadonlySet<string>>,
  { prefix }: Place,
): Observable<ReadonlySet<string>> {
  const inView = (all: ReadonlySet<string>) =>
    new Set([...all].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)));
  return new Cell<ReadonlySet<string>>(inView(unconfirmed.get()), (cell) => {
    const update = (all: ReadonlySet<string>) => {
      const [now, before] = [inView(all), cell.get()];
      if (now.size !== before.size || [...now].some((key) => !before.has(key))) cell.set(now);
    };
    update(unconfirmed.get());
    return unconfirmed.subscribe(update);
  });
}
