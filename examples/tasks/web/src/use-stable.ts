import { useLayoutEffect, useRef, useState } from 'react';

type Functions = Readonly<Record<string, (...args: never[]) => void>>;

/**
 * Returns the same functions at every render. They call those of the latest render, so that components that receive
 * them need not be rendered again.
 */
export function useStable<F extends Functions>(functions: F): F {
  const latest = useRef(functions);
  useLayoutEffect(() => {
    latest.current = functions;
  });
  const [stable] = useState(() => {
    const calls = Object.keys(functions).map((name) => [name, (...args: never[]) => latest.current[name]!(...args)]);
    return Object.fromEntries(calls) as F;
  });
  return stable;
}
