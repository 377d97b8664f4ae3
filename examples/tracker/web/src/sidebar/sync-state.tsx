import { usePending, useRefused, useStatus } from '@tidemark/client/react';
import { useState, useSyncExternalStore } from 'react';
import type { Project } from '../../../src/views.js';
import { CloudIcon, QuestionIcon } from '../parts/icons.js';
import { useStore } from '../store.js';
import { ThemeToggle } from './theme-toggle.js';

interface SyncStateProps {
  readonly projects: readonly Project[];
  readonly onHelp: () => void;
}

/** The connection, what is not saved yet, and how many of all issues are in this browser. */
export function SyncState({ projects, onHelp }: SyncStateProps) {
  const { client } = useStore();
  const { state, error } = useStatus(client);
  const pending = usePending(client);
  const refusal = useRefused(client).at(-1);
  const here = useIssuesHere();
  const [isOff, setOff] = useState(false);
  const total = projects.reduce((sum, { issues }) => sum + issues, 0);
  const toggle = () => {
    client.setOnline(isOff);
    setOff(!isOff);
  };
  return (
    <footer>
      {refusal && (
        <p role="alert">
          {refusal.detail ?? 'A change was not possible'}
          <button type="button" className="link" onClick={() => client.dismiss(refusal)}>
            Dismiss
          </button>
        </p>
      )}
      {error && state !== 'offline' && <p role="alert">{error.message}</p>}
      <p className="here">
        <span className="meter">
          <span style={{ width: `${total === 0 ? 0 : Math.max(1, (100 * here) / total)}%` }} />
        </span>
        <span>
          <b>{here.toLocaleString('en')}</b> of {total.toLocaleString('en')} issues here
        </span>
      </p>
      <div className="tools">
        <span className={`sync ${state}`} role="status" aria-label="Sync">
          {state}
          {pending.length > 0 && `, ${pending.length} unsaved`}
        </span>
        <button
          type="button"
          className="icon-button"
          aria-label="Offline"
          title={isOff ? 'Go online' : 'Go offline'}
          aria-pressed={isOff}
          onClick={toggle}
        >
          <CloudIcon isOff={isOff} />
        </button>
        <ThemeToggle />
        <button
          type="button"
          className="icon-button"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts"
          onClick={onHelp}
        >
          <QuestionIcon />
        </button>
      </div>
    </footer>
  );
}

/** The number of issues in this browser, of all synced projects. */
function useIssuesHere(): number {
  const { issues } = useStore();
  return useSyncExternalStore(
    (listener) => {
      const subscription = issues.subscribeChanges(listener);
      return () => subscription.unsubscribe();
    },
    () => issues.size,
    () => 0,
  );
}
