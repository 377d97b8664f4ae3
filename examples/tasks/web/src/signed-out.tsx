/**
 * The deletion of the user's data in this browser after a sign-out:
 * - `elsewhere`: the tab in which the user has signed out sees to it
 * - `running`, `done` or a `failure`: this tab does
 */
export type Deletion = 'elsewhere' | 'running' | 'done' | { readonly failure: string };

interface SignedOutProps {
  readonly user: string;
  readonly deletion: Deletion;
  readonly onRetry: () => void;
}

/** What is shown after a sign-out. It claims only what is true by now. */
export function SignedOut({ user, deletion, onRetry }: SignedOutProps) {
  return (
    <div className="empty">
      {typeof deletion === 'string' ? (
        <p role="status">{texts[deletion]}</p>
      ) : (
        <p role="alert">You are signed out, but your data could not be deleted from this browser: {deletion.failure}</p>
      )}
      {typeof deletion === 'object' && (
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

const texts = {
  elsewhere: 'You have signed out in another tab.',
  running: 'Signing out: your data is being deleted from this browser…',
  done: 'You are signed out, and nothing of yours is left in this browser.',
};
