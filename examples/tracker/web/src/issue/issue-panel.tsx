import { useEffect } from 'react';
import type { Comment, Issue, Project } from '../../../src/views.js';
import { dateOf } from '../parts/dates.js';
import { AssigneeMenu, PriorityMenu, StatusMenu } from '../parts/field-menus.js';
import { CrossIcon } from '../parts/icons.js';
import { Labels } from '../parts/labels.js';
import { useStore } from '../store.js';
import { Comments } from './comments.js';

interface IssuePanelProps {
  readonly issue: Issue;
  readonly project: Project;
  readonly initial: readonly Comment[] | undefined;
  readonly onClose: () => void;
}

export function IssuePanel({ issue, project, initial, onClose }: IssuePanelProps) {
  const { client } = useStore();
  const { id, number, title, description, labels, unread, createdAt } = issue;
  useEffect(() => {
    if (unread) client.mutate.issue.read({ id });
  }, [client, id, unread]);
  return (
    <section className="panel" aria-label="Issue">
      <header>
        <span className="number">{number ? `${project.key}-${number}` : project.key}</span>
        <time dateTime={createdAt}>{dateOf(createdAt)}</time>
        <button type="button" className="icon-button" aria-label="Close the issue" onClick={onClose}>
          <CrossIcon />
        </button>
      </header>
      <div className="panel-body">
        <h2>{title}</h2>
        <div className="fields">
          <StatusMenu issue={issue} isNamed />
          <PriorityMenu issue={issue} isNamed />
          <AssigneeMenu issue={issue} isNamed />
          <Labels labels={labels} />
        </div>
        {description ? <p className="description">{description}</p> : <p className="none">No description</p>}
        <Comments issueID={id} initial={initial} />
      </div>
    </section>
  );
}
