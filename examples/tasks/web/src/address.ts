import { useSyncExternalStore } from 'react';

/** The page's query parameters. They hold the user's choices, so that a reload keeps them. */
export function useQuery(): URLSearchParams {
  return new URLSearchParams(useSyncExternalStore(subscribe, () => location.search));
}

/** The address of this page with these query parameters changed; null removes one. */
export function addressWith(changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  return `${location.pathname}?${query}`;
}

export function goTo(address: string): void {
  history.pushState(null, '', address);
  dispatchEvent(new PopStateEvent('popstate'));
}

function subscribe(onChange: () => void): () => void {
  addEventListener('popstate', onChange);
  return () => removeEventListener('popstate', onChange);
}
