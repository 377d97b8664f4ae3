/**
 * The ops for a client that wants other instances of a view than it has. Only the rows of the added and removed
 * instances are read, and the changes of the others.
 */
import type { CompiledView } from '../../view/compile/compile.js';
import { type Delta, delOp, deltaOf, putOp, singleScope } from './delta.js';
import { type SyncedTable, statesAsOf } from './states.js';
import { isIn, rowsOf } from './view-rows.js';

/** The difference between the instances that a client has and wants: parameters as SQL; undefined for none. */
export interface InstanceChange {
  /** The instances that the client has and still wants. */
  readonly common: readonly string[] | undefined;
  readonly added: readonly string[] | undefined;
  readonly removed: readonly string[] | undefined;
}

/**
 * Returns the delta. A row of an added instance is put even if the client has it because of another instance. A row of
 * a removed instance is deleted unless another instance still has it.
 * @param index distinguishes the view from others in the same statement
 * @param tables the changed tables, by OID
 */
export function instanceChangeDelta(
  view: CompiledView,
  index: number,
  { common, added, removed }: InstanceChange,
  tables: ReadonlyMap<number, SyncedTable>,
): Delta {
  const addedRows = `tidemark_added_${index}`;
  const isAdded = `exists (select from ${addedRows} a where a.tidemark_key = b.tidemark_key)`;
  const changes = common && deltaOf(view, index, common, tables, singleScope, { unless: added && isAdded });
  const queries = [...(changes?.queries ?? [])];
  const ops = [...(changes?.ops ?? [])];
  if (added) {
    queries.push(`${addedRows} as materialized (${rowsOf(view, view.whole, added)})`);
    ops.push(`select ${putOp} from ${addedRows} b`);
  }
  if (removed) {
    const asOf = view.variants.atStates(statesAsOf(view.occurrenceTables, tables));
    const staysInCommon = common && staying(view, index, common);
    const conditions = [
      added && `not ${isAdded}`,
      // The delta of the other instances decides about the rows that it mentions.
      changes && `not exists (select from ${changes.pairs} p where p.tidemark_key = b.tidemark_key)`,
      staysInCommon && `not ${staysInCommon.condition}`,
    ].filter((condition) => condition !== undefined);
    queries.push(...(staysInCommon?.queries ?? []));
    const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '';
    ops.push(`select ${delOp} from (${rowsOf(view, asOf, removed)}) b${where}`);
  }
  return { queries, ops };
}

/** Returns an SQL condition: a row with the key of a row `b` is in the instances now. */
function staying(
  view: CompiledView,
  index: number,
  common: readonly string[],
): { readonly queries: readonly string[]; readonly condition: string } {
  if (view.strategy !== 'compare') return { queries: [], condition: isIn(view, view.now, common) };
  // Looking up one key would evaluate the whole view.
  const name = `tidemark_common_${index}`;
  return {
    queries: [`${name} as materialized (${rowsOf(view, view.whole, common)})`],
    condition: `exists (select from ${name} c where c.tidemark_key = b.tidemark_key)`,
  };
}
