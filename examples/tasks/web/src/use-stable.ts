import { useLayoutEffect, useRef, useState } from 'react';

type Functions = Readonly<Record<string, (...args: never[]) => void>>;

/**
 * The same functions at each render, which do what those of the latest render do: what gets them need not be rendered
 * anew.
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
