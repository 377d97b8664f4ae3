/** Known mistakes of sync servers, as edits of the sources. */
import type { Patch } from '../../support/patch.js';

/** A position in the log as the cursor, instead of the snapshot. */
export const cursorOfTheLog: readonly Patch[] = [
  {
    file: 'store/patches/states.ts',
    find: `\${unseenRows(table, unseen, rows)}\n          cross join lateral`,
    replace: `(select * from tidemark.change where table_id = \${table.id} and ctid > (
          select coalesce(max(c.ctid), '(0,0)') from tidemark.change c
          where not exists (select from unnest(\${unseen.lows}::xid8[], \${unseen.highs}::xid8[]) u (low, high) where c.xid between low and high))) c
          cross join lateral`,
  },
];

/** A transaction ID as the cursor, instead of the snapshot's list. */
const cursorOf = (bound: 'xmax' | 'xmin'): readonly Patch[] => [
  {
    file: 'protocol/snapshot.ts',
    find: '[[xmax, highestXid], ...unseen]',
    replace: `[[${bound === 'xmax' ? 'xmax' : 'unseen[0]?.[0] ?? xmax'}, highestXid]]`,
  },
  {
    file: 'protocol/snapshot.ts',
    find: 'return xid < xmax && !unseen.some(([first, last]) => first <= xid && xid <= last);',
    replace: `return ${bound === 'xmax' ? 'xid < xmax' : 'false'};`,
  },
];

export const cursorOfXmax: readonly Patch[] = cursorOf('xmax');
export const cursorOfXmin: readonly Patch[] = cursorOf('xmin');

const claims = '../sql/0001-initial.sql';
const isNext = 'and last_mutation_id = mutation - 1';

/** A claim that does not check again after it has got the row lock. */
export const claimWithoutLock: readonly Patch[] = [
  { file: 'db/transact.ts', find: 'isolation level repeatable read', replace: 'isolation level read committed' },
  {
    file: claims,
    find: isNext,
    replace: 'and (select c.last_mutation_id from tidemark.client c where c.id = of_client) = mutation - 1',
  },
];

/** A claim of any mutation, even if it was applied before. */
export const claimOfAny: readonly Patch[] = [{ file: claims, find: isNext, replace: '' }];

/** A lastMutationID outside of the transaction of its effects. */
export const separateLastMutationID: readonly Patch[] = [
  {
    file: 'db/transact.ts',
    find: 'const results = await together(client, ...texts).catch(failExplained);',
    replace:
      "const results = first.length > 0 ? await together(client, ...first.map(inline)) : []; await client.query('begin isolation level repeatable read');",
  },
];

/** The same edits for the compiled package. */
export function compiled(patches: readonly Patch[]): Patch[] {
  return patches.map((patch) => ({ ...patch, file: patch.file.replace(/\.ts$/, '.js') }));
}
