import { useSyncExternalStore } from 'react';

/** The page's query parameters. What is chosen stands there, so that a reload keeps it. */
export function useQuery(): URLSearchParams {
  return new URLSearchParams(useSyncExternalStore(subscribe, () => location.search));
}

/** The address of this page with other query parameters; null leaves one out. */
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
