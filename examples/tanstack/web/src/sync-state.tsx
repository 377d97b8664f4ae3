import { usePending, useStatus } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { client } from './stock.js';

/** The state of the connection, unsaved changes, and the last refused change. */
export function SyncState() {
  const { state, error } = useStatus(client);
  const pending = usePending(client);
  const [refused, setRefused] = useState('');
  useEffect(() => client.onRefused(({ detail }) => setRefused(detail ?? 'A change was not possible')), []);
  const unsaved = pending.length === 0 ? 'all saved' : `${pending.length} not saved yet`;
  return (
    <>
      <p role="status" aria-label="Sync">
        {refused && <strong>{refused}</strong>}
        <span className={`dot ${state}`} />
        {state}, {unsaved}
      </p>
      {error && <p role="alert">{error.message}</p>}
    </>
  );
}
