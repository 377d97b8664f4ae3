/** Views as their readers know them. Pure. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { View } from './define.js';
import { inView } from './in-view.js';
import { describeKeys, patternOf } from './keys/patterns.js';
import { commonPrefix } from './keys/prefixes.js';

export interface ListedView {
  readonly name: string;
  /** The columns that identify a row. */
  readonly key: readonly string[];
  /** What the keys begin with; undefined if it depends on the user. */
  readonly prefix: string | undefined;
  /** What the keys look like, with columns in braces and `…` for a prefix of the user's own. */
  readonly keys: string;
  /** What keys look like after the prefix, if they are made by a template. */
  readonly template: string | undefined;
  /** What the application says about its rows. */
  readonly row: StandardSchemaV1 | undefined;
}

/** Lists an application's views. @throws SetupError that names a view whose keys are none. */
export function listViews(views: Readonly<Record<string, View<never>>>): ListedView[] {
  return Object.entries(views).map(([name, view]) =>
    inView(name, () => {
      const prefix = commonPrefix(name, view);
      const keys = describeKeys({ prefix: prefix ?? '…', pattern: patternOf(view) });
      return { name, key: view.key, prefix, keys, template: view.template, row: view.row };
    }),
  );
}
