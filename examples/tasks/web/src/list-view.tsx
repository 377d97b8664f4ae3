import type { List } from '../../src/views.js';
import type { Client } from './client.js';
import { ListActions } from './list-actions.js';
import { Sharing } from './sharing.js';
import { TodoList } from './todo-list.js';
import { useTodos } from './use-client-view.js';

export function ListView({ client, list }: { client: Client; list: List }) {
  const todos = useTodos(client, list.id);
  const owned = list.ownerID === client.user;
  return (
    <div className="list">
      <div className="list-header">
        <h2>{list.name}</h2>
        {owned && <ListActions client={client} list={list} />}
      </div>
      {owned ? <Sharing client={client} list={list} /> : <p className="shared-by">Shared by {list.ownerID}</p>}
      {todos && <TodoList rep={client.rep} listID={list.id} todos={todos} />}
    </div>
  );
}
