import type { Project } from '../../../src/views.js';
import { EmptyPicture } from '../parts/icons.js';

interface EmptyListProps {
  readonly project: Project | undefined;
  readonly isReady: boolean;
  readonly isMissing: boolean;
  readonly isSearch: boolean;
  readonly onCreate: () => void;
}

/** The reason why there are no issues. */
export function EmptyList({ project, isReady, isMissing, isSearch, onCreate }: EmptyListProps) {
  if (isMissing) return <Empty title="No such project">It does not exist, or you are not a member of it.</Empty>;
  if (!isReady) return <p className="loading">Loading issues…</p>;
  if (isSearch) return <Empty title="No matching issues">No title or number contains this text.</Empty>;
  return (
    <Empty title="No issues yet">
      {project?.team} {project?.name} has a clean slate. Press <kbd>C</kbd> or{' '}
      <button type="button" className="link" onClick={onCreate}>
        create the first issue
      </button>
      .
    </Empty>
  );
}

function Empty({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="empty">
      <EmptyPicture />
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}
