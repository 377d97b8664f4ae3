import { useEffect, useState } from 'react';
import type { Group } from './arrange.js';

export interface Selection {
  /** The ID of the selected issue. */
  readonly selected: string | undefined;
  /** True if the list must scroll to the selected issue. */
  readonly isByKey: boolean;
  readonly select: (id: string) => void;
  /** Selects the issue that many rows below, and returns its ID. */
  readonly move: (by: number) => string | undefined;
}

/** The issue that the keys act on: the one under the pointer, the opened one, or the one that the arrow keys reached. */
export function useSelection(groups: readonly Group[], opened: string | undefined): Selection {
  const [{ selected, isByKey }, setState] = useState({ selected: opened, isByKey: false });
  useEffect(() => {
    if (opened) setState({ selected: opened, isByKey: true });
  }, [opened]);
  return {
    selected,
    isByKey,
    select: (id) => setState({ selected: id, isByKey: false }),
    move(by) {
      const ids = groups.flatMap(({ issues }) => issues.map(({ id }) => id));
      const from = selected === undefined ? -1 : ids.indexOf(selected);
      const next = ids[from < 0 ? 0 : Math.min(Math.max(from + by, 0), ids.length - 1)];
      if (next) setState({ selected: next, isByKey: true });
      return next;
    },
  };
}
