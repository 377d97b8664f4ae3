import { useEffect, useState } from 'react';
import { useSubscribe } from 'replicache-react';
import type { List, Share, Todo } from '../../src/views.js';
import type { Client } from './client.js';
import { prefixes, sharesOfList } from './keys.js';
import { todosOf } from './mutators.js';

/** The user's own lists, then those of others, each sorted by name. Undefined until they have been read. */
export function useLists({ rep, user }: Client): readonly List[] | undefined {
  return useSubscribe(rep, async (tx) => {
    const lists = await tx.scan<List>({ prefix: prefixes.list }).values().toArray();
    const others = (list: List) => Number(list.ownerID !== user);
    return lists.sort((a, b) => others(a) - others(b) || a.name.localeCompare(b.name));
  });
}

/** A list's todos in order. Undefined until they have been read. */
export function useTodos({ rep }: Client, listID: string): readonly Todo[] | undefined {
  return useSubscribe(
    rep,
    async (tx) => {
      const todos = await todosOf(tx, listID);
      return todos.sort((a, b) => a.sort - b.sort || (a.id < b.id ? -1 : 1));
    },
    { dependencies: [listID], isEqual: sameElements },
  );
}

/** The users with whom a list is shared. */
export function useShares({ rep }: Client, listID: string): readonly string[] {
  return useSubscribe(
    rep,
    async (tx) => {
      const shares = tx.scan<Share>({ prefix: sharesOfList(listID) }).values();
      return (await shares.toArray()).map(({ userID }) => userID);
    },
    { dependencies: [listID], default: [] },
  );
}

/** The number of todos that are not done, by list. Updated with each change, without reading all todos again. */
export function useOpenCounts({ rep }: Client): ReadonlyMap<string, number> {
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(new Map());
  useEffect(() => {
    const open = new Map<string, number>();
    const count = (value: unknown, step: 1 | -1) => {
      const { listID, done } = value as Todo;
      if (!done) open.set(listID, (open.get(listID) ?? 0) + step);
    };
    return rep.experimentalWatch(
      (diff) => {
        for (const change of diff) {
          if (change.op !== 'add') count(change.oldValue, -1);
          if (change.op !== 'del') count(change.newValue, 1);
        }
        setCounts(new Map(open));
      },
      { prefix: prefixes.todo, initialValuesInFirstDiff: true },
    );
  }, [rep]);
  return counts;
}

/**
 * Whether two arrays hold the same objects. The client keeps the objects of unchanged values, and a deep comparison of
 * ten thousand of them would take longer than showing them.
 */
function sameElements<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((element, i) => element === b[i]);
}
