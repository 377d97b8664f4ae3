import { usePending, useStatus, useView } from '@tidemark/client/react';
import { client, user } from './client.ts';

export function App() {
  const { rows: todos, complete } = useView(client, 'todo', { by: 'created' });
  return (
    <main>
      <header>
        <h1>Todos</h1>
        <SyncStatus />
      </header>
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
        {complete && todos?.length === 0 && 'There is nothing yet. '}
        This is the list of {user}. Open it in another browser, or go offline, and go on.
      </p>
    </main>
  );
}

async function add(form: FormData): Promise<void> {
  const title = String(form.get('title')).trim();
  if (title) await client.mutate.todo.create({ id: newID(), title, created: new Date().toISOString() });
}

/** A random ID. Not from `crypto.randomUUID`, which a phone in this network has only with https. */
function newID(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function SyncStatus() {
  const { state, error } = useStatus(client);
  const pending = usePending(client).length;
  return (
    <>
      <output className={state}>
        {state}
        {pending > 0 && `, ${pending} to send`}
      </output>
      {error && <p role="alert">{error.message}</p>}
    </>
  );
}
