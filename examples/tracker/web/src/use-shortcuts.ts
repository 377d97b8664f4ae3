import { useEffect, useRef } from 'react';

export interface Shortcuts {
  readonly move: (by: number) => void;
  readonly open: () => void;
  readonly close: () => void;
  readonly create: () => void;
  readonly search: () => void;
  readonly help: () => void;
  readonly menu: (name: 'status' | 'priority' | 'assignee') => void;
}

/** Calls the functions for the keys of the page, unless a field, a menu or a dialog has the focus. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing || event.defaultPrevented) return;
      const target = event.target as Element;
      if (target.closest('dialog, [popover], input, textarea')) return;
      const run = actionOf(event.key, latest.current, target);
      if (!run) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

function actionOf(key: string, shortcuts: Shortcuts, target: Element): (() => void) | undefined {
  // Enter already presses the button or follows the link that has the focus.
  if (key === 'Enter') return target.closest('a, button') ? undefined : shortcuts.open;
  const actions: Record<string, () => void> = {
    j: () => shortcuts.move(1),
    k: () => shortcuts.move(-1),
    ArrowDown: () => shortcuts.move(1),
    ArrowUp: () => shortcuts.move(-1),
    Escape: shortcuts.close,
    c: shortcuts.create,
    '/': shortcuts.search,
    '?': shortcuts.help,
    s: () => shortcuts.menu('status'),
    p: () => shortcuts.menu('priority'),
    a: () => shortcuts.menu('assignee'),
  };
  return actions[key];
}
