import { type MouseEvent, memo, useEffect, useRef } from 'react';
import type { Project } from '../../../src/views.js';
import { addressOf } from '../address.js';
import { useStore } from '../store.js';

interface ProjectLinkProps {
  readonly project: Project;
  readonly isCurrent: boolean;
  readonly onOpen: (id: string) => void;
}

/** The time that the pointer must rest on a project, so that it can pass over others. */
const restMs = 60;
const preloadTtl = 30_000;

/** Opens a project. While the pointer or the focus is on it, its issues are already synced. */
export const ProjectLink = memo(
  function ProjectLink({ project: { id, name, open }, isCurrent, onOpen }: ProjectLinkProps) {
    const { user, client } = useStore();
    const link = useRef<HTMLAnchorElement>(null);
    useEffect(() => {
      if (isCurrent) link.current?.scrollIntoView({ block: 'nearest' });
    }, [isCurrent]);
    const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
    const preload = () => client.preload('issue', { projectID: id }, { ttl: preloadTtl })();
    const follow = (event: MouseEvent) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      onOpen(id);
    };
    return (
      <li>
        <a
          ref={link}
          href={addressOf(user, { projectID: id, issueID: undefined })}
          aria-current={isCurrent ? 'page' : undefined}
          data-project={id}
          onPointerEnter={() => {
            timer.current = setTimeout(preload, restMs);
          }}
          onPointerLeave={() => clearTimeout(timer.current)}
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
