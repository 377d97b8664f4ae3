import { type MouseEvent, memo } from 'react';
import type { Project } from '../../../src/views.js';
import { addressOf } from '../address.js';
import { useStore } from '../store.js';

interface ProjectLinkProps {
  readonly project: Project;
  readonly isCurrent: boolean;
  readonly onOpen: (id: string) => void;
}

/** Opens a project. Its issues are synced as soon as the pointer or the focus is on it, and for half a minute after that. */
export const ProjectLink = memo(
  function ProjectLink({ project: { id, name, open }, isCurrent, onOpen }: ProjectLinkProps) {
    const { user, client } = useStore();
    const preload = () => client.preload('issue', { projectID: id }, { ttl: 30_000 })();
    const follow = (event: MouseEvent) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      onOpen(id);
    };
    return (
      <li>
        <a
          href={addressOf(user, { projectID: id, issueID: undefined })}
          aria-current={isCurrent ? 'page' : undefined}
          data-project={id}
          onPointerEnter={preload}
          onFocus={preload}
          onClick={follow}
        >
          <span>{name}</span>
          <span className="count">{open}</span>
        </a>
      </li>
    );
  },
  (a, b) => a.project === b.project && a.isCurrent === b.isCurrent,
);
