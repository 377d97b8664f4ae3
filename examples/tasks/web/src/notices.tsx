import type { Refusal } from '@tidemark/client';
import { useStatus } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import type { Args } from '../../src/mutators.js';
import { useClient } from './client.js';
import { CrossIcon } from './icons.js';

/** The action that failed, in words. */
const actions: Readonly<Record<string, string>> = {
  'list.create': 'add the list',
  'list.delete': 'delete the list',
  'list.share': 'share the list',
  'list.unshare': 'stop sharing the list',
  'list.fill': 'add so many todos',
  'todo.create': 'add the todo',
  'todo.update': 'change the todo',
  'todo.delete': 'delete the todo',
} satisfies { readonly [Name in keyof Args]: string };

/** The reason for which the client does not sync, what the server has refused, and newer versions of the page. */
export function Notices() {
  const client = useClient();
  const { error, outdated } = useStatus(client);
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  useEffect(() => client.onRefused((refusal) => setRefusals((before) => [...before, refusal])), [client]);
  return (
    <div role="status" aria-label="Notices">
      {error && (
        <div className="notice">
          <p>{error.message}</p>
        </div>
      )}
      {refusals.length > 0 && (
        <div className="notice">
          <ul>
            {refusals.map(({ clientID, mutationID, name, detail }) => (
              <li key={`${clientID} ${mutationID}`}>
                Could not {actions[name ?? ''] ?? 'do this'}
                {detail ? `: ${detail}` : ''}.
              </li>
            ))}
          </ul>
          <button type="button" className="dismiss" aria-label="Dismiss" onClick={() => setRefusals([])}>
            <CrossIcon />
          </button>
        </div>
      )}
      {outdated && (
        <div className="notice">
          <p>There is a newer version of this page.</p>
          <button type="button" className="quiet" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      )}
    </div>
  );
}
