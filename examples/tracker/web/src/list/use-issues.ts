import { eq, useLiveQuery } from '@tanstack/react-db';
import type { Issue } from '../../../src/views.js';
import { useIsHydrated } from '../is-hydrated.js';
import { useStore } from '../store.js';

const none: readonly Issue[] = [];

/** Returns the issues of a project, whose rows the query syncs. While the page hydrates, they are `initial`. */
export function useIssues(projectID: string | undefined, initial: readonly Issue[] | undefined) {
  const { issues } = useStore();
  const isHydrated = useIsHydrated();
  const { data, isReady } = useLiveQuery({
    query: (q) =>
      isHydrated && projectID !== undefined
        ? q.from({ issue: issues }).where(({ issue }) => eq(issue.projectID, projectID))
        : undefined,
  });
  const rows = data as readonly Issue[] | undefined;
  const hasArrived = isHydrated && (isReady || !!rows?.length);
  return { issues: (hasArrived ? rows : initial) ?? none, isReady: hasArrived || initial !== undefined };
}
