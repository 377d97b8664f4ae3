import { useView } from '@tidemark/client/react';
import { type FormEvent, useMemo, useState } from 'react';
import type { Comment } from '../../../src/views.js';
import { Avatar } from '../parts/avatar.js';
import { dateOf } from '../parts/dates.js';
import { newID, useStore } from '../store.js';

interface CommentsProps {
  readonly issueID: string;
  readonly initial: readonly Comment[] | undefined;
}

/** The comments on an issue, which are synced while it is open, and a field for another one. */
export function Comments({ issueID, initial }: CommentsProps) {
  const { client } = useStore();
  const { rows, complete } = useView(client, 'comment', { args: { issueID }, initial });
  const [text, setText] = useState('');
  const comments = useMemo(
    () => rows?.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0)),
    [rows],
  );
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() === '') return;
    client.mutate.comment.create({ id: newID(), issueID, body: text.trim(), createdAt: new Date().toISOString() });
    setText('');
  };
  return (
    <>
      <h3>Activity</h3>
      <ul className="comment-list" aria-label="Comments">
        {comments?.map(({ id, author, hue, body, createdAt }) => (
          <li key={id}>
            <Avatar name={author} hue={hue} />
            <div>
              <strong>{author}</strong> <time dateTime={createdAt}>{dateOf(createdAt)}</time>
              <p>{body}</p>
            </div>
          </li>
        ))}
      </ul>
      {complete && comments?.length === 0 && <p className="none">No comments yet</p>}
      <form className="composer" onSubmit={send}>
        <textarea
          aria-label="Comment"
          placeholder="Leave a comment…"
          rows={2}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) send();
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
        <button type="submit" className="primary" disabled={text.trim() === ''}>
          Comment
        </button>
      </form>
    </>
  );
}
