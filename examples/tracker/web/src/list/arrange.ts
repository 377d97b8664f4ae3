import { priorities, type Status, statuses } from '../../../src/fields.js';
import type { Issue } from '../../../src/views.js';

export interface Group {
  readonly status: Status;
  readonly issues: readonly Issue[];
}

/** Groups the issues whose title or number contains the text by status, and sorts them by priority, then newest first. */
export function arrange(issues: readonly Issue[], text: string): readonly Group[] {
  const wanted = text.trim().toLowerCase();
  const isWanted = ({ title, number }: Issue) => title.toLowerCase().includes(wanted) || `${number}` === wanted;
  const sorted = (wanted ? issues.filter(isWanted) : issues).toSorted(compare);
  const groups = statuses.map((status) => ({ status, issues: sorted.filter((issue) => issue.status === status) }));
  return groups.filter((group) => group.issues.length > 0);
}

function compare(a: Issue, b: Issue): number {
  const byPriority = priorities.indexOf(a.priority) - priorities.indexOf(b.priority);
  if (byPriority !== 0) return byPriority;
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
