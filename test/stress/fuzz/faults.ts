/** What can be wrong with the sources, and the generator is to notice. */
import type { Patch } from '../../support/patch.js';
import type { DifferenceKind } from './difference.js';

export interface Fault {
  readonly name: string;
  /** How it shows. */
  readonly kinds: readonly DifferenceKind[];
  readonly patch: Patch;
  /** From which the first case, or one soon after, shows it. */
  readonly seed: number;
}

/** A client holds other rows than its views do, and which of these says so first is left to the case. */
const ofRows: readonly DifferenceKind[] = ['rows', 'missed poke', 'failed delta', 'failed pull', 'chance'];

export const faults: readonly Fault[] = [
  {
    name: 'an outer join is taken for monotone',
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
      find: 'before: side(ownAsof, own)',
      replace: "before: side(now, () => '')",
    },
  },
  {
    name: 'rows that have changed are not put',
    kinds: ofRows,
    seed: 3,
    patch: {
      file: 'store/patches/delta.ts',
      find: '(b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)',
      replace: 'b.tidemark_other is null',
    },
  },
  {
    name: 'a cookie forgets which transactions were in progress',
    kinds: ofRows,
    seed: 4,
    patch: { file: 'protocol/snapshot.ts', find: '[[xmax, highestXid], ...unseen]', replace: '[[xmax, highestXid]]' },
  },
  {
    name: 'nobody is poked',
    kinds: ['missed poke'],
    seed: 2,
    patch: { file: 'endpoints/listening/poke-streams.ts', find: '() => stream.poke()', replace: '() => {}' },
  },
  {
    name: 'functions that are not immutable are taken',
    kinds: ['accepted'],
    seed: 51,
    patch: {
      file: 'view/analysis/stability.ts',
      find: 'for (const routine of facts.routines.values()) checkRoutine(routine);',
      replace: 'for (const routine of facts.routines.values()) if (routine.builtin) checkRoutine(routine);',
    },
  },
  {
    name: 'functions that only a domain, an aggregate or a default argument runs are not looked at',
    kinds: ['accepted'],
    seed: 335,
    patch: {
      file: 'view/analysis/facts.ts',
      find: 'for (const tree of implied) uses.add(tree);',
      replace: '',
    },
  },
  {
    name: 'moments that move are taken',
    kinds: ['accepted'],
    seed: 38,
    patch: {
      file: 'view/analysis/moments.ts',
      find: 'return movingWord.test(text);',
      replace: 'return movingWord.test(text) && false;',
    },
  },
  {
    name: 'ties are left to chance',
    kinds: ['chance', 'rows'],
    seed: 11,
    patch: {
      file: 'view/settle/order.ts',
      find: 'select.sortClause = [...(select.sortClause as Tree[]), ...nodes.map(ascending)];',
      replace: 'void nodes;',
    },
  },
  {
    name: 'which of equal rows remains is left to chance',
    kinds: ['chance', 'rows'],
    seed: 11,
    patch: {
      file: 'view/analyze.ts',
      find: 'const choosesByKey = settleDuplicates(select, settling);',
      replace: 'const choosesByKey = false;',
    },
  },
  {
    name: 'a list is another one where it stands elsewhere in the text',
    kinds: ['refused'],
    seed: 1,
    patch: { file: 'view/parse/syntax.ts', find: '|.*list_(start|end)|', replace: '|' },
  },
  {
    name: 'seats are mixed up',
    kinds: ['seats'],
    seed: 1,
    patch: {
      file: 'pulls/seated-reads.ts',
      find: 'texts.get(isShared ? place : null)',
      replace: 'texts.get(isShared ? (place + 1) % tables.length : null)',
    },
  },
  {
    name: 'rows of all seats are paired',
    kinds: ['seats'],
    seed: 1,
    patch: {
      file: 'store/patches/delta.ts',
      find: "const key = [...whom, 'tidemark_key",
      replace: "const key = ['tidemark_key",
    },
  },
];
