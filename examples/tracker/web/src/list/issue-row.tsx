import { type CSSProperties, type MouseEvent, memo } from 'react';
import type { Issue } from '../../../src/views.js';
import { addressOf } from '../address.js';
import { dateOf } from '../parts/dates.js';
import { AssigneeMenu, PriorityMenu, StatusMenu } from '../parts/field-menus.js';
import { CommentIcon } from '../parts/icons.js';
import { Labels } from '../parts/labels.js';
import { useStore } from '../store.js';

interface IssueRowProps {
  readonly style: CSSProperties;
  readonly issue: Issue;
  readonly projectKey: string;
  readonly isSelected: boolean;
  readonly isOpened: boolean;
  readonly onSelect: (id: string) => void;
  readonly onOpen: (id: string) => void;
}

export const IssueRow = memo(Row, (a, b) => {
  const isSame = a.issue === b.issue && a.isSelected === b.isSelected && a.isOpened === b.isOpened;
  return isSame && a.style.transform === b.style.transform && a.projectKey === b.projectKey;
});

function Row({ style, issue, projectKey, isSelected, isOpened, onSelect, onOpen }: IssueRowProps) {
  const { user } = useStore();
  const { id, projectID, number, title, status, labels, comments, unread } = issue;
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onOpen(id);
  };
  const states = [isSelected && 'selected', isOpened && 'opened', unread && 'unread', `is-${status}`];
  return (
    <li
      className={['issue', ...states.filter(Boolean)].join(' ')}
      style={style}
      data-id={id}
      onMouseMove={() => isSelected || onSelect(id)}
    >
      <PriorityMenu issue={issue} />
      <span className="number">{number ? `${projectKey}-${number}` : projectKey}</span>
      <StatusMenu issue={issue} />
      <a className="title" href={addressOf(user, { projectID, issueID: id })} onClick={open}>
        {title}
      </a>
      {unread && <span className="unread-dot" role="img" aria-label="Unread" />}
      <Labels labels={labels} />
      {comments > 0 && (
        <span className="comments" title={`${comments} comments`}>
          <CommentIcon />
          {comments}
        </span>
      )}
      <AssigneeMenu issue={issue} />
      <time dateTime={issue.createdAt}>{dateOf(issue.createdAt)}</time>
    </li>
  );
}
