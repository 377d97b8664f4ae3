import { useSyncExternalStore } from 'react';

const never = () => () => {};

/** False on the server, and in the browser until React has taken over the server's HTML. */
export function useIsHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
