import { useView } from '@tidemark/client/react';
import { useMemo } from 'react';
import type { List } from '../../src/views.js';
import { useClient } from './client.js';
import { ListActions } from './list-actions.js';
import { Sharing } from './sharing.js';
import { TodoList } from './todo-list.js';

export function ListView({ user, list: { id, name, ownerID } }: { user: string; list: List }) {
  const { rows, complete } = useView(useClient(), 'todo', { args: { listID: id }, by: 'listID', equals: id });
  const todos = useMemo(() => rows?.toSorted((a, b) => a.sort - b.sort || (a.id < b.id ? -1 : 1)), [rows]);
  const owned = ownerID === user;
  return (
    <div className="list">
      <div className="list-header">
        <h2>{name}</h2>
        {owned && <ListActions listID={id} />}
      </div>
      {owned ? <Sharing listID={id} owner={user} /> : <p className="shared-by">Shared by {ownerID}</p>}
      {todos && <TodoList listID={id} todos={todos} complete={complete} />}
    </div>
  );
}
