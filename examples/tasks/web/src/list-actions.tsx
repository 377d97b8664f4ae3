import { useState } from 'react';
import type { List } from '../../src/views.js';
import type { Client } from './client.js';

/** What an owner can do with a whole list. */
export function ListActions({ client, list }: { client: Client; list: List }) {
  const { rep, countPending } = client;
  const [deleting, setDeleting] = useState(false);
  if (deleting) {
    return (
      <div className="actions">
        <span className="question">Delete this list and all its todos?</span>
        <button type="button" className="danger" onClick={() => rep.mutate['list.delete']({ id: list.id })}>
          Yes, delete list
        </button>
        {/* biome-ignore lint/a11y/noAutofocus: the button that had the focus is gone, and this one does no harm */}
        <button type="button" autoFocus onClick={() => setDeleting(false)}>
          Keep it
        </button>
      </div>
    );
  }
  return (
    <div className="actions">
      <button
        type="button"
        className="quiet"
        onClick={() => rep.mutate['list.fill']({ listID: list.id, count: 10_000 }).then(countPending)}
      >
        Add 10,000 todos
      </button>
      <button type="button" className="quiet" onClick={() => setDeleting(true)}>
        Delete list
      </button>
    </div>
  );
}
