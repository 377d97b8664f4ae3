/** The generator notices what it is there for: each copy of the sources has one fault, and the first cases find it. */
import { afterAll, describe, expect, it } from 'vitest';
import { loadBroken, removeCopies } from '../oracle/broken-copy.js';
import type { Patch } from '../patch.js';
import { postgresVersion } from './database.js';
import type { DifferenceKind } from './difference.js';
import { fuzz } from './fuzz.js';

afterAll(removeCopies);

const most = 12;

interface Fault extends Patch {
  readonly name: string;
  readonly kinds: readonly DifferenceKind[];
}

const faults: readonly Fault[] = [
  {
    name: 'an outer join is taken for monotone',
    kinds: ['rows', 'missed poke'],
    file: 'view/strategy.ts',
    find: `JoinExpr.jointype !== 'JOIN_INNER'`,
    replace: `JoinExpr.jointype === 'JOIN_FULL'`,
  },
  {
    name: 'a view that is compared is compared with itself',
    kinds: ['rows', 'missed poke'],
    file: 'store/sides.ts',
    find: 'const before = rowsOf(view, view.standing(asof), values);',
    replace: 'const before = rowsOf(view, view.now, values);',
  },
  {
    name: 'rows that have changed are not put',
    kinds: ['rows'],
    file: 'store/patch-sql.ts',
    find: '(a.other is null or a.other <> a.value)',
    replace: 'a.other is null',
  },
  {
    name: 'a cookie forgets which transactions were in progress',
    kinds: ['rows'],
    file: 'protocol/snapshot.ts',
    find: '[[xmax, highestXid], ...unseen]',
    replace: '[[xmax, highestXid]]',
  },
  {
    name: 'nobody is poked',
    kinds: ['missed poke'],
    file: 'http/poke-streams.ts',
    find: '() => stream.poke()',
    replace: '() => {}',
  },
];

describe('finds that', () => {
  it.each(faults)(
    '$name',
    async ({ name, kinds, ...patch }) => {
      const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
      const { found } = await fuzz({
        cluster,
        version: await postgresVersion(cluster),
        code: await loadBroken(name.replaceAll(' ', '-'), [patch]),
        seed: 1,
        views: 8,
        shrinkMs: 0,
        goesOn: ({ tally, found }) => tally.cases < most && found.length === 0,
      });
      expect(kinds).toContain(found[0]?.difference.kind);
    },
    120_000,
  );
});
