import type { DiffOperation, ReadTransaction } from '#engine';
import { Cell, type Observable } from '../observable.js';
import type { ListOptions, ReadView } from '../types.js';
import { type Completeness, completenessOf, type IsAnswered } from '../wants/answered.js';
import type { Ttl, WantOptions } from '../wants/wants.js';
import { belongs, readView, type StoredView } from './read.js';

/** A change to a row. */
export interface RowChange<Row> {
  /** The row's key, without its view's prefix. */
  readonly key: string;
  /** The current row; undefined if it is no longer in the view. */
  readonly row: Row | undefined;
  /** The previous row; undefined if it is new. */
  readonly before: Row | undefined;
}

/** The rows of a view, or of an instance of it, that are here, and whether these are all. */
export interface ViewState<Row> extends Completeness {
  /** Undefined until the rows have been read. */
  readonly rows: readonly Row[] | undefined;
}

/** A view, or an instance of it: the rows that the user sees, including the optimistic effects of pending mutations. */
export interface ClientView<Row> extends ReadView<Row> {
  /**
   * Calls the listener with the rows, and again after each change. `complete` is as in `ViewState`. Returns an unsubscribe
   * function.
   */
  subscribe(
    listener: (rows: readonly Row[], complete: boolean) => void,
    options?: ListOptions<Row> & WantOptions,
  ): () => void;
  /** Returns the rows as an observable. It is up to date only while it has a listener. */
  observe(options?: ListOptions<Row> & WantOptions): Observable<ViewState<Row>>;
  /**
   * Returns whether the server has answered for the view since this client was created, so that the rows are not only
   * those of an earlier visit. The observable is up to date only while it has a listener.
   */
  observeAnswered(): Observable<boolean>;
  /**
   * Returns the keys of the view's rows that pending mutations have changed, so that they differ from the server's. The
   * observable is up to date only while it has a listener.
   */
  observeUnconfirmed(): Observable<ReadonlySet<string>>;
  /** Calls the listener with all existing rows, then with each set of changes. Returns an unsubscribe function. */
  watch(listener: (changes: readonly RowChange<Row>[]) => void, options?: WantOptions): () => void;
}

/** The data that views read. */
export interface ClientData {
  query<Result>(body: (tx: ReadTransaction) => Promise<Result>): Promise<Result>;
  subscribe<Result>(body: (tx: ReadTransaction) => Promise<Result>, onData: (result: Result) => void): () => void;
  watch(prefix: string, onDiff: (diff: readonly DiffOperation[]) => void): () => void;
  /** Wants an instance. Returns a function that ends this use. */
  use(instance: string, ttl: Ttl | undefined): () => void;
  /** The keys whose values differ from the server's. */
  readonly unconfirmed: Observable<ReadonlySet<string>>;
  /** The views and instances that the server's last answer was about. */
  readonly answered: Observable<IsAnswered>;
  /** True if the user has signed out, so there is no more data. */
  readonly hasEnded: boolean;
}

type ReadState = ViewState<unknown> & { readonly rows: readonly unknown[] };

export function clientView(data: ClientData, storedView: StoredView): ClientView<unknown> {
  const { view, prefix, instance } = storedView;
  const use = ({ ttl }: WantOptions = {}) => (instance ? data.use(instance.text, ttl) : () => {});
  const subscribe = (listener: (state: ReadState) => void, options?: ListOptions & WantOptions) => {
    let shown: ReadState | undefined;
    const read = async (tx: ReadTransaction): Promise<ReadState> => ({
      rows: await readView(tx, storedView).list(options),
      ...(await completenessOf(tx, view, instance?.text)),
    });
    const stop = data.subscribe(read, (state) => {
      const isComparable = shown && shown.complete !== state.complete;
      const areRowsSame = isComparable && JSON.stringify(shown!.rows) === JSON.stringify(state.rows);
      // The rows remain the same array until one changes.
      shown = areRowsSame ? { ...state, rows: shown!.rows } : state;
      listener(shown);
    });
    const endUse = use(options);
    return () => {
      stop();
      endUse();
    };
  };
  return {
    get: (key) => data.query((tx) => readView(tx, storedView).get(key)),
    list: (options) => data.query((tx) => readView(tx, storedView).list(options)),
    count: (options) => data.query((tx) => readView(tx, storedView).count(options)),
    subscribe: (listener, options) => subscribe(({ rows, complete }) => listener(rows, complete), options),
    observe(options) {
      const connect = (cell: Cell<ViewState<unknown>>) => subscribe((state) => cell.set(state), options);
      const { get, subscribe: listen } = new Cell<ViewState<unknown>>({ rows: undefined, complete: false }, connect);
      // Without a listener, the cell still holds the rows from before the sign-out.
      return { get: () => (data.hasEnded ? endState : get()), subscribe: listen };
    },
    observeAnswered: () => derived(data.answered, (isAnswered) => isAnswered(view, instance?.text)),
    observeUnconfirmed: () => unconfirmedIn(data.unconfirmed, storedView),
    watch(listener, options) {
      let isFirst = true;
      const stop = data.watch(prefix, (diff) => {
        const changes = diff.map((op) => rowChange(op, storedView)).filter(isChange);
        // The first call says that all existing rows are known.
        if (isFirst || changes.length > 0) listener(changes);
        isFirst = false;
      });
      const endUse = use(options);
      return () => {
        stop();
        endUse();
      };
    },
  };
}

/** The state after a sign-out. */
const endState: ViewState<never> = { rows: [], complete: false };

function rowChange({ key, newValue, oldValue }: DiffOperation, storedView: StoredView): RowChange<unknown> {
  const shown = (row: unknown) => (belongs(storedView, row) ? row : undefined);
  return { key: key.slice(storedView.prefix.length), row: shown(newValue), before: shown(oldValue) };
}

/** False for a change to a row that belongs to the instance neither before nor after it. */
function isChange({ row, before }: RowChange<unknown>): boolean {
  return row !== undefined || before !== undefined;
}

function unconfirmedIn(
  unconfirmed: Observable<ReadonlySet<string>>,
  { prefix }: StoredView,
): Observable<ReadonlySet<string>> {
  return derived(unconfirmed, (all, before?: ReadonlySet<string>) => {
    const now = new Set([...all].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)));
    return now.size === before?.size && [...now].every((key) => before.has(key)) ? before : now;
  });
}

/** Returns an observable of a value that follows from another one. It is up to date only while it has a listener. */
function derived<Source, Value>(
  source: Observable<Source>,
  deriveFrom: (value: Source, before?: Value) => Value,
): Observable<Value> {
  return new Cell(deriveFrom(source.get()), (cell) => {
    const update = () => cell.set(deriveFrom(source.get(), cell.get()));
    update();
    return source.subscribe(update);
  });
}
