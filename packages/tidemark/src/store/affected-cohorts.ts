/** Finds, for many users in one statement, whose views have changed. */
import type { Database, Statement } from '../db/database.js';
import { type Snapshot, unseenRanges } from '../protocol/snapshot.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { ViewParameters } from '../view/served-view.js';
import { cohortArrays, cohortParameter, cohortsQuery } from './patches/cohorts.js';
import { cohortScope, rowsOfSides } from './patches/delta.js';
import type { UnseenSql } from './patches/logged-rows.js';
import type { ChangedTable } from './patches/patch-sql.js';
import { isConcerned, sidesOf, wasThere } from './patches/sides.js';
import { stateQueries, states, versionQueries } from './patches/states.js';
import { isSmall } from './polls/observation.js';

/** A view, and the parameters of each cohort that sees it. */
export interface AffectedInput {
  readonly view: CompiledView;
  /** The parameters of each cohort. */
  readonly cohorts: readonly ViewParameters[];
  /**
   * `net` finds the cohorts whose rows differ now from those at the snapshot. That is exact if one transaction made the
   * changes, and possible only for views that one statement can read for several cohorts. `anyVersion` finds the
   * cohorts that see a touched row, saw one in the meantime, or depend on one.
   */
  readonly mode: 'net' | 'anyVersion';
  /** The maximum time for Postgres to answer. */
  readonly timeoutMs: number;
}

/**
 * Finds the cohorts whose view the changes since the snapshot may have altered.
 * @param changes all changes of the view's tables up to the time when the statement runs
 * @returns indexes into the input's list of cohorts
 */
export async function findAffectedCohorts(
  db: Pick<Database, 'query'>,
  input: AffectedInput,
  changes: readonly ChangedTable[],
  base: Snapshot,
): Promise<number[]> {
  const { timeoutMs } = input;
  const rows = await db.query<{ cohort: number }>({ ...affectedStatement(input, changes, base), timeoutMs });
  return rows.map(({ cohort }) => cohort);
}

function affectedStatement(input: AffectedInput, changes: readonly ChangedTable[], base: Snapshot): Statement {
  const { cohorts } = input;
  const text = statementText(cohortQueries(input, changes), changes, { lows: '$1', highs: '$2' });
  const { lows, highs } = unseenRanges(base);
  const values = [lows, highs, ...cohortArrays(cohorts.map(({ texts }) => texts))];
  // With few changed rows, every plan begins with these, and planning would take longer than everything else.
  const isFew = isSmall(changes.map(({ table, rows }) => [table.id, rows]));
  return { text, values, name: isFew ? 'tidemark_affected' : undefined };
}

function statementText({ queries, select }: Parts, changes: readonly ChangedTable[], unseen: UnseenSql): string {
  const stateOfTables = changes.flatMap(({ table, rows }) => [
    ...stateQueries(table, unseen, rows),
    ...versionQueries(table, unseen, rows),
  ]);
  return `with ${[...stateOfTables, ...queries].join(',\n')}\n${select}`;
}

interface Parts {
  readonly queries: readonly string[];
  readonly select: string;
}

function sameRow(side: string, ...moreColumns: string[]): string {
  return `select from ${side} o where ${['tidemark_cohort', 'tidemark_key', ...moreColumns].map((column) => `o.${column} = b.${column}`).join(' and ')}`;
}

/** The first two parameters are the ends of the ranges of unseen transactions. */
const firstCohortParameter = 3;

/** The cohorts become rows `tidemark_parameters`, whose columns the view's query reads in place of its parameters. */
function cohortQueries({ view: compiled, mode }: AffectedInput, changes: readonly ChangedTable[]): Parts {
  const tables = new Map(changes.map(({ table }) => [table.oid, table]));
  // One statement can read companion queries for several cohorts, whatever the view.
  const view = compiled.cohortView ?? compiled;
  const values = view.parameterTypes.map((_, i) => cohortParameter(i));
  const queries = [
    cohortsQuery(view.parameterTypes, firstCohortParameter),
    // A cohort that sees no touched row, in any state of the other tables, needs no further examination.
    `tidemark_candidates as materialized (
      select * from tidemark_cohorts tidemark_parameters where ${isConcerned(view, values, tables, states.versions, states.allVersions)}
    )`,
  ];
  if (mode === 'anyVersion') return { queries, select: 'select tidemark_cohort as cohort from tidemark_candidates' };
  const sides = sidesOf(view, values, tables)!;
  const { affected, before, after } = rowsOfSides(sides, 'tidemark_affected', cohortScope('tidemark_candidates'));
  // One such row is enough, because checking whether a row was, or is, in the view for another reason takes long.
  const hasUnlike = (one: string, same: string, elsewhere: string) =>
    `select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from ${one} b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (${same}) and not ${elsewhere})`;
  return {
    queries: [
      ...queries,
      ...affected,
      `tidemark_before as materialized (${before})`,
      `tidemark_after as materialized (${after})`,
    ],
    select: `${hasUnlike('tidemark_after', sameRow('tidemark_before', 'tidemark_value'), wasThere(view, values, tables))}
    union
    ${hasUnlike('tidemark_before', sameRow('tidemark_after'), sides.isThere)}`,
  };
}
