/**
 * The deletion of the user's data in this browser after a sign-out:
 * - `elsewhere`: by the tab in which the user has signed out
 * - `running`, `done` or `failed`: by this tab
 */
export type Deletion = 'elsewhere' | 'running' | 'done' | 'failed';

interface SignedOutProps {
  readonly user: string;
  readonly deletion: Deletion;
  readonly onRetry: () => void;
}

/** The page after a sign-out. It claims only what is already true. */
export function SignedOut({ user, deletion, onRetry }: SignedOutProps) {
  const failed = deletion === 'failed';
  return (
    <div className="empty">
      <p role={failed ? 'alert' : 'status'}>{texts[deletion]}</p>
      {failed && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
      <button type="button" disabled={deletion === 'running'} onClick={() => location.reload()}>
        Sign in as {user}
      </button>
    </div>
  );
}

const texts: Readonly<Record<Deletion, string>> = {
  elsewhere: 'You have signed out in another tab.',
  running: 'Signing out: your data is being deleted from this browser…',
  done: 'You are signed out, and nothing of yours is left in this browser.',
  failed:
    'You are signed out, but your data could not be deleted from this browser yet. Close the other tabs of this page, and try again.',
};
