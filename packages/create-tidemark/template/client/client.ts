import { createClient } from '@tidemark/client';
import type { mutators, views } from '../server/sync.ts';

/** The owner of these todos. Take it from your sign-in. Here, `?user=ben` is another user. */
export const user = new URLSearchParams(location.search).get('user') ?? 'ann';

export const client = createClient<typeof mutators, typeof views>({
  user,
  auth: `Bearer ${user}`,
  indexes: { todo: ['created'] },
  // What is seen at once. The result of the server's mutator with the same name replaces it.
  mutators: {
    todo: {
      create: (tx, todo) => tx.view('todo').set(todo.id, { ...todo, done: false }),
      setDone: (tx, { id, done }) => tx.view('todo').update(id, { done }),
    },
  },
});

// In development, an edit of this file creates another client.
import.meta.hot?.dispose(() => void client.close());
