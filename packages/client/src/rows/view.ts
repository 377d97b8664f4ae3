import type { DiffOperation, ReadTransaction } from '#engine';
import { Cell, type Observable } from '../observable.js';
import type { ListOptions, ReadView } from '../types.js';
import { readView, type StoredView } from './read.js';

/** A change to a row. */
export interface RowChange<Row> {
  /** The row's key, without its view's prefix. */
  readonly key: string;
  /** The current row; undefined if it is no longer in the view. */
  readonly row: Row | undefined;
  /** The previous row; undefined if it is new. */
  readonly before: Row | undefined;
}

/** A view: the rows that the user sees, including the optimistic effects of pending mutations. */
export interface ClientView<Row> extends ReadView<Row> {
  /** Calls the listener with the rows, and again after each change. Returns an unsubscribe function. */
  subscribe(listener: (rows: readonly Row[]) => void, options?: ListOptions<Row>): () => void;
  /** Returns the rows as an observable. Its value is undefined until it has a listener and the rows have been read. */
  observe(options?: ListOptions<Row>): Observable<readonly Row[] | undefined>;
  /**
   * Returns the keys of the rows that pending mutations have changed, so that they differ from the server's. The
   * observable is up to date only while it has a listener.
   */
  observeUnconfirmed(): Observable<ReadonlySet<string>>;
  /** Calls the listener with all existing rows, then with each set of changes. Returns an unsubscribe function. */
  watch(listener: (changes: readonly RowChange<Row>[]) => void): () => void;
}

/** The data that views read. */
export interface ClientData {
  query<Result>(body: (tx: ReadTransaction) => Promise<Result>): Promise<Result>;
  subscribe<Result>(body: (tx: ReadTransaction) => Promise<Result>, onData: (result: Result) => void): () => void;
  watch(prefix: string, onDiff: (diff: readonly DiffOperation[]) => void): () => void;
  /** The keys whose values differ from the server's. */
  readonly unconfirmed: Observable<ReadonlySet<string>>;
  /** True if the user has signed out, so there is no more data. */
  readonly hasEnded: boolean;
}

const none: readonly never[] = [];

export function clientView(data: ClientData, storedView: StoredView): ClientView<unknown> {
  const read = async (tx: ReadTransaction, options?: ListOptions) => readView(tx, storedView).list(options);
  const subscribe = (listener: (rows: readonly unknown[]) => void, options?: ListOptions) =>
    data.subscribe((tx) => read(tx, options), listener);
  return {
    get: (key) => data.query((tx) => readView(tx, storedView).get(key)),
    list: (options) => data.query((tx) => read(tx, options)),
    count: (options) => data.query((tx) => readView(tx, storedView).count(options)),
    subscribe,
    observe(options) {
      const connect = (cell: Cell<readonly unknown[] | undefined>) => subscribe((rows) => cell.set(rows), options);
      const { get, subscribe: listen } = new Cell<readonly unknown[] | undefined>(undefined, connect);
      // Without a listener, the cell still holds the rows from before the sign-out.
      return { get: () => (data.hasEnded ? none : get()), subscribe: listen };
    },
    observeUnconfirmed: () => unconfirmedIn(data.unconfirmed, storedView),
    watch: (listener) => data.watch(storedView.prefix, (diff) => listener(diff.map((op) => rowChange(op, storedView)))),
  };
}

function rowChange({ key, newValue, oldValue }: DiffOperation, { prefix }: StoredView): RowChange<unknown> {
  return { key: key.slice(prefix.length), row: newValue, before: oldValue };
}

function unconfirmedIn(
  unconfirmed: Observable<ReadonlySet<string>>,
  { prefix }: StoredView,
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
