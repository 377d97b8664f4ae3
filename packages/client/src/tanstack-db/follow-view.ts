import type { SyncAppliedReceipt, SyncConfig } from '@tanstack/db';
import { ClientError } from '../client-error.js';
import type { Client } from '../create-client.js';
import type { RowChange } from '../rows/view.js';
import type { AnyViews } from '../types.js';
import { Seeds } from './seeds.js';
import { withMark } from './unconfirmed-mark.js';

/** The part of a collection that a view's rows are written to. */
type Target<Row extends object> = Parameters<SyncConfig<Row, string>['sync']>[0];

/** A view whose rows are copied into a collection. */
export interface FollowedView {
  /** Resolves when the collection shows what has been copied so far. */
  applied(): SyncAppliedReceipt;
  /** Replaces the seeds of an instance, given its arguments, by the client's rows. */
  endSeeds(args: object): void;
  stop(): void;
}

/**
 * Copies the client's rows of a view, of all instances, and then every change to them. Seeds of the collection stay until
 * `endSeeds`, except for the rows that the user changes.
 *
 * @param args the names of the view's arguments
 */
export function followView<Mutators, Views extends AnyViews, Row extends object>(
  client: Client<Mutators, Views>,
  name: keyof Views & string,
  getKey: (row: Row) => string,
  args: readonly string[],
  { collection, begin, write, commit, markReady, markError }: Target<Row>,
): FollowedView {
  const view = (client as unknown as Client<never, AnyViews>).view(name);
  const rows = new Map<string, Row>();
  const seeds = new Seeds(collection.entries(), args);
  const unconfirmed = view.observeUnconfirmed();
  let unconfirmedKeys = unconfirmed.get();
  let applied: SyncAppliedReceipt = true;

  const put = (key: string, row: Row) =>
    // With `rowUpdateMode: 'full'`, an update of a missing row is an insert.
    write({ type: 'update', value: unconfirmedKeys.has(key) ? withMark(row) : row });

  const apply = (changes: readonly RowChange<Row>[]) => {
    const wrong = changes.find(({ key, row }) => row !== undefined && getKey(row) !== key);
    if (wrong?.row) return markError(wrongKey(name, getKey(wrong.row), wrong.key));
    begin();
    for (const { key, row, before } of changes) {
      if (row === undefined) rows.delete(key);
      else rows.set(key, row);
      if (seeds.replace((row ?? before)!) && !unconfirmedKeys.has(key)) continue;
      if (row === undefined) write({ type: 'delete', key });
      else put(key, row);
    }
    applied = commit();
    markReady();
  };

  const mark = (keys: ReadonlySet<string>) => {
    const changed = [...unconfirmedKeys]
      .filter((key) => !keys.has(key))
      .concat([...keys].filter((key) => !unconfirmedKeys.has(key)));
    unconfirmedKeys = keys;
    begin();
    for (const key of changed) {
      const row = rows.get(key);
      if (row) put(key, row);
      // The user has deleted a row that seeds replace.
      else if (seeds.instances.length > 0 && keys.has(key)) write({ type: 'delete', key });
    }
    applied = commit();
  };

  const endSeeds = (instance: string) => {
    const seedKeys = seeds.end(instance);
    if (seedKeys.length === 0) return;
    begin();
    for (const key of seedKeys) if (!rows.has(key)) write({ type: 'delete', key });
    for (const [key, row] of rows) if (seeds.instanceOf(row) === instance) put(key, row);
    applied = commit();
  };
  const endAllSeeds = () => {
    for (const instance of seeds.instances) endSeeds(instance);
  };

  const { state, error } = client.status.get();
  const stops: (() => void)[] = [];
  if (state === 'closed') {
    const todo = 'create a collection with the client of the user who has signed in';
    markError(error ?? new ClientError('closed', `The client of this collection is closed. What to do: ${todo}.`));
  } else {
    stops.push(
      unconfirmed.subscribe(mark),
      // After a sign-out, nothing of the user's may be shown.
      client.status.subscribe((status) => status.state === 'closed' && endAllSeeds()),
      view.watch((changes) => apply(changes as readonly RowChange<Row>[])),
    );
  }
  return {
    applied: () => applied,
    endSeeds: (instanceArgs) => endSeeds(seeds.instanceOf(instanceArgs)),
    stop() {
      for (const stop of stops) stop();
    },
  };
}

function wrongKey(view: string, actualKey: string, key: string): ClientError {
  const todo = 'let it return the fields of the row that the view’s option `key` names: several as an array';
  return new ClientError(
    'wrong-key',
    `getKey of the collection of "${view}" says "${actualKey}" of the row "${key}". What to do: ${todo}.`,
  );
}
