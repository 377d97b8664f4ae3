import { usePending, useStatus, useView } from '@tidemark/client/react';
import { useState } from 'react';
import { client, user } from './client.ts';

const lists = ['Home', 'Work'];

export function App() {
  const [list, setList] = useState('Home');
  // Syncs this list, and keeps it in sync for five minutes after it was last shown.
  const { rows: todos, complete } = useView(client, 'todo', { args: { list }, by: 'created' });
  const add = async (form: FormData) => {
    const title = String(form.get('title')).trim();
    if (title) await client.mutate.todo.create({ id: newID(), list, title, created: new Date().toISOString() });
  };
  return (
    <main>
      <header>
        <h1>Todos</h1>
        <SyncStatus />
      </header>
      <nav>
        {lists.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === list}
            onPointerEnter={() => client.preload('todo', { list: name })()}
            onClick={() => setList(name)}
          >
            {name}
          </button>
        ))}
      </nav>
      <form action={add}>
        <input
          name="title"
          aria-label="New todo"
          placeholder="What is to be done?"
          maxLength={200}
          autoComplete="off"
        />
        <button type="submit">Add</button>
      </form>
      <ul>
        {todos?.map(({ id, title, done }) => (
          <li key={id}>
            <label>
              <input type="checkbox" checked={done} onChange={() => client.mutate.todo.setDone({ id, done: !done })} />
              <span>{title}</span>
            </label>
          </li>
        ))}
      </ul>
      <p>
        {todos?.length === 0 && (complete ? 'There is nothing yet. ' : 'This list has not been synced here yet. ')}
        These are the lists of {user}. Open them in another browser, or go offline, and go on.
      </p>
    </main>
  );
}

/** A random ID. Not from `crypto.randomUUID`, which a phone in this network has only with https. */
function newID(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function SyncStatus() {
  const { state, error } = useStatus(client);
  // While the device is offline, no request can succeed.
  const problem = state === 'offline' ? undefined : error;
  const pending = usePending(client).length;
  return (
    <>
      <output className={state}>
        {state}
        {pending > 0 && `, ${pending} to send`}
      </output>
      {problem && <p role="alert">{problem.message}</p>}
    </>
  );
}
