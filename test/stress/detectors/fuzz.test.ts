/** The generator detects known faults: each copy of the sources has one, and the first cases show it. */
import { afterAll, describe, expect, it } from 'vitest';
import { postgresVersion } from '../fuzz/database.js';
import { faults } from '../fuzz/faults.js';
import { fuzz } from '../fuzz/fuzz.js';
import { loadBroken, removeCopies } from '../oracle/broken-copy.js';

afterAll(removeCopies);

/** The first case does, unless a change of the generator makes other cases from the same seeds. */
const maxCases = 12;

describe('the generator detects that', () => {
  it.each(faults)(
    '$name',
    async ({ name, kinds, seed, patch }) => {
      const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
      const { found } = await fuzz({
        cluster,
        version: await postgresVersion(cluster),
        code: await loadBroken(name.replaceAll(' ', '-'), [patch]),
        seed,
        views: 6,
        shrinkMs: 0,
        ...(kinds.length === 1 && { kind: kinds[0]! }),
        showsNeedless: kinds.includes('refused'),
        goesOn: ({ tally, found }) => tally.cases < maxCases && found.length === 0,
      });
      expect(kinds).toContain(found[0]?.difference.kind);
    },
    400_000,
  );
});
