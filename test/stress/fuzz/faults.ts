/** Faults in the sources that the generator must detect. */
import type { Patch } from '../../support/patch.js';
import type { DifferenceKind } from './difference.js';

export interface Fault {
  readonly name: string;
  /** The kinds of difference that reveal it. */
  readonly kinds: readonly DifferenceKind[];
  readonly patch: Patch;
  /** The seed of the case that reveals it, or of one shortly before that case. */
  readonly seed: number;
}

/** A client holds other rows than its views do. The case decides which of these is reported first. */
const ofRows: readonly DifferenceKind[] = ['rows', 'missed poke', 'failed delta', 'failed pull', 'chance'];

export const faults: readonly Fault[] = [
  {
    name: 'an outer join counts as monotone',
    kinds: ofRows,
    seed: 98,
    patch: {
      file: 'view/compile/strategy.ts',
      find: `JoinExpr.jointype !== 'JOIN_INNER'`,
      replace: `JoinExpr.jointype === 'JOIN_FULL'`,
    },
  },
  {
    name: 'a view that is not incremental is compared with itself',
    kinds: ofRows,
    seed: 1,
    patch: {
      file: 'store/patches/sides.ts',
      find: 'before: side(beforeStates, withOldRows)',
      replace: "before: side(now, () => '')",
    },
  },
  {
    name: 'changed rows are not put',
    kinds: ofRows,
    seed: 3,
    patch: {
      file: 'store/patches/delta.ts',
      find: '(b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)',
      replace: 'b.tidemark_other is null',
    },
  },
  {
    name: 'a cookie omits transactions in progress',
    kinds: ofRows,
    seed: 4,
    patch: { file: 'protocol/snapshot.ts', find: '[[xmax, highestXid], ...unseen]', replace: '[[xmax, highestXid]]' },
  },
  {
    name: 'no client is poked',
    kinds: ['missed poke'],
    seed: 2,
    patch: { file: 'endpoints/subscriptions/poke-streams.ts', find: '() => stream.poke()', replace: '() => {}' },
  },
  {
    name: 'functions that are not immutable are accepted',
    kinds: ['accepted'],
    seed: 51,
    patch: {
      file: 'view/analysis/stability.ts',
      find: 'for (const routine of facts.routines.values()) checkRoutine(routine);',
      replace: 'for (const routine of facts.routines.values()) if (routine.builtin) checkRoutine(routine);',
    },
  },
  {
    name: 'functions of domains, aggregates and default arguments are not checked',
    kinds: ['accepted'],
    seed: 335,
    patch: {
      file: 'view/analysis/facts.ts',
      find: 'for (const tree of implied) uses.add(tree);',
      replace: '',
    },
  },
  {
    name: 'relative dates and times are accepted',
    kinds: ['accepted'],
    seed: 38,
    patch: {
      file: 'view/analysis/date-times.ts',
      find: 'return relativeWord.test(text);',
      replace: 'return relativeWord.test(text) && false;',
    },
  },
  {
    name: 'ties are not broken',
    kinds: ['chance', 'rows'],
    seed: 11,
    patch: {
      file: 'view/determinism/order.ts',
      find: 'select.sortClause = [...(select.sortClause as Tree[]), ...nodes.map(ascending)];',
      replace: 'void nodes;',
    },
  },
  {
    name: 'the choice among equal rows is not deterministic',
    kinds: ['chance', 'rows'],
    seed: 11,
    patch: {
      file: 'view/determinism/make-deterministic.ts',
      find: 'const choosesByKey = makeDuplicatesDeterministic(select, context);',
      replace: 'const choosesByKey = false;',
    },
  },
  {
    name: 'equal lists at other positions in a text count as different',
    kinds: ['refused'],
    seed: 1,
    patch: { file: 'view/parse/syntax.ts', find: '|.*list_(start|end)|', replace: '|' },
  },
  {
    name: 'cohorts are mixed up',
    kinds: ['cohorts'],
    seed: 1,
    patch: {
      file: 'pulls/reads/cohort-reads.ts',
      find: 'texts.get(isShared ? index : null)',
      replace: 'texts.get(isShared ? (index + 1) % cohorts.length : null)',
    },
  },
  {
    name: 'rows of different cohorts are paired',
    kinds: ['cohorts'],
    seed: 1,
    patch: {
      file: 'store/patches/delta.ts',
      find: "const key = [...scopeColumns, 'tidemark_key",
      replace: "const key = ['tidemark_key",
    },
  },
];
