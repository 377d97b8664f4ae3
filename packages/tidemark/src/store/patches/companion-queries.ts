/** The companion queries of a view, over the changed rows of its tables. */
import type { CompiledView } from '../../view/compile/compile.js';
import type { TableState } from '../../view/compile/rewrite.js';
import { render } from '../../view/parse/template.js';
import { type SyncedTable, states } from './states.js';

/** A companion query over the changed rows of the table with an ID. */
export interface CompanionQuery {
  readonly query: string;
  readonly id: number;
  readonly identifiesPartition: boolean;
}

/**
 * Returns the companion queries of a view, over the rows of each changed table in one of its states.
 * @param otherState the state that other occurrences of changed tables read
 */
export function companionQueries(
  { companions = [] }: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  state: (id: number) => string,
  otherState: (id: number) => TableState,
): CompanionQuery[] {
  return companions.flatMap((companion) => {
    const { focuses, identifiesPartition } = companion;
    const changed = companion.tables.map((oid) => tables.get(oid)?.id);
    return focuses.flatMap((focus) => {
      const id = changed[focus];
      if (id === undefined) return [];
      const tableStates = changed.map(
        (at, i): TableState => (at === undefined ? 'now' : i === focus ? state(at) : otherState(at)),
      );
      const isNumbered = identifiesPartition && state === states.numberedOldRows;
      const query = render(companion.atStates(tableStates, isNumbered ? focus : undefined), values);
      return [{ query, id, identifiesPartition }];
    });
  });
}

/** An SQL condition: a companion query yields a row. If a view has no companions, any change may matter to it. */
export function isAnyChanged({ companions }: CompiledView, changes: readonly CompanionQuery[]): string {
  return companions ? changes.map(({ query }) => `exists (\n${query}\n)`).join(' or ') : 'true';
}
