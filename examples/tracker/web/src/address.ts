/** The page's address: `/<user>/<project>/<issue>`. */
import { useEffect, useState } from 'react';

export interface Place {
  readonly projectID: string | undefined;
  readonly issueID: string | undefined;
}

export function addressOf(user: string, { projectID, issueID }: Place): string {
  return `/${[user, projectID, issueID].filter(Boolean).join('/')}`;
}

function currentPlace(): Place {
  const [, , projectID, issueID] = location.pathname.split('/').map(decodeURIComponent);
  return { projectID, issueID };
}

/** Returns what the address names, and a function that goes elsewhere. Follows the browser's buttons too. */
export function usePlace(user: string, first: Place): [Place, (place: Place) => void] {
  const [place, setPlace] = useState(first);
  useEffect(() => {
    const follow = () => setPlace({ ...currentPlace(), projectID: currentPlace().projectID ?? first.projectID });
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, [first.projectID]);
  const go = (next: Place) => {
    // From one issue to the next, as with the arrow keys.
    const isStep = place.issueID !== undefined && next.issueID !== undefined;
    history[isStep ? 'replaceState' : 'pushState'](null, '', addressOf(user, next));
    setPlace(next);
  };
  return [place, go];
}
