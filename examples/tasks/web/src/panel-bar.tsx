import { usePending, useStatus } from '@tidemark/client/react';
import { useState } from 'react';
import { useClient } from './client.js';
import { Confirmed } from './confirmed.js';

interface PanelBarProps {
  readonly title: string | undefined;
  readonly onSignOut: () => void;
}

/** The state of syncing, and the controls that stop it. */
export function PanelBar({ title, onSignOut }: PanelBarProps) {
  const client = useClient();
  const { state } = useStatus(client);
  const pending = usePending(client).length;
  return (
    <div className="panel-bar">
      {title && <h2 className="panel-title">{title}</h2>}
      <div role="status" aria-label="Sync" className="sync" data-state={state} data-pending={pending}>
        <span className="sync-state">{words[state]}</span>
        {/* Changes too often for screen readers to announce it. */}
        <span className="sync-detail" aria-live="off">
          {pending.toLocaleString('en')} pending
        </span>
      </div>
      {state !== 'closed' && (
        <>
          <OfflineSwitch />
          <Confirmed
            label="Sign out"
            question={
              pending > 0 ? `Sign out and lose ${pending} unsent ${pending === 1 ? 'change' : 'changes'}?` : undefined
            }
            yes="Yes, sign out"
            no="Stay"
            onConfirmed={onSignOut}
          />
        </>
      )}
    </div>
  );
}

const words = {
  connecting: 'Connecting…',
  online: 'Online',
  offline: 'Offline',
  unauthorized: 'Not signed in',
  error: 'Not syncing',
  closed: 'Signed out',
};

/** Disconnects this client from the server, as a lost network would. */
function OfflineSwitch() {
  const client = useClient();
  const [offline, setOffline] = useState(false);
  const onClick = () => {
    client.setOnline(offline);
    setOffline(!offline);
  };
  return (
    <button type="button" role="switch" className="switch" aria-checked={offline} onClick={onClick}>
      Offline
      <span className="switch-track" />
    </button>
  );
}
