/** Lists views as the OpenAPI document describes them. Pure. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { View } from './define.js';
import { inView } from './in-view.js';
import { describeKeys, patternOf } from './keys/patterns.js';
import { commonPrefix } from './keys/prefixes.js';

export interface ListedView {
  readonly name: string;
  /** The columns that identify a row. */
  readonly key: readonly string[];
  /** The text that all keys begin with; undefined if it depends on the user. */
  readonly prefix: string | undefined;
  /** The format of the keys, with columns in braces and `…` for a prefix that depends on the user. */
  readonly keys: string;
  /** The template of the keys after the prefix, if there is one. */
  readonly template: string | undefined;
  /** The application's validator of the arguments, if the view has any. */
  readonly args: StandardSchemaV1 | undefined;
  /** Arguments as an example. */
  readonly sampleArgs: unknown;
  /** The application's validator of the rows. */
  readonly row: StandardSchemaV1 | undefined;
}

/** Lists an application's views. @throws SetupError that names a view whose keys are invalid. */
export function listViews(views: Readonly<Record<string, View<never>>>): ListedView[] {
  return Object.entries(views).map(([name, view]) =>
    inView(name, () => {
      const prefix = commonPrefix(name, view);
      const keys = describeKeys({ prefix: prefix ?? '…', pattern: patternOf(view) });
      const { key, template, args, sampleArgs, row } = view;
      return { name, key, prefix, keys, template, args, sampleArgs, row };
    }),
  );
}
