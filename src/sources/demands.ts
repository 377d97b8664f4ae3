/** What a standby must show, as far as the primary tells. Pure. */
import type { CookieMeaning } from '../protocol/cookie.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { Demand } from '../pulls/demand.js';
import type { Window } from '../window/window.js';

/** @param base what the cookie has seen, if there is a usable one */
export type Wanted = (base: Snapshot | undefined) => Omit<Demand, 'confirms'>;

/** What the cookie has seen is enough. */
export const nothing: Wanted = () => ({ since: undefined, timeline: undefined, xids: [] });

/** If the primary does not answer, what the cookie has seen is all that can be asked for. */
export function ownWrites(window: Window | undefined, clientGroupID: string): Wanted {
  if (!window) return nothing;
  return (base) => {
    const { since, xids } = window.movesOf(clientGroupID, base);
    return { since: since && upTo(window, since), timeline: timelineOf(window), xids };
  };
}

/** All that the primary had committed. */
export function everything(window: Window | undefined): Wanted {
  if (!window) return nothing;
  return () => ({ since: upTo(window, window.header.snapshot), timeline: timelineOf(window), xids: [] });
}

/** @param snapshot one of those that the window has had */
function upTo({ header }: Window, snapshot: Snapshot): CookieMeaning {
  return { parsedSnapshot: snapshot, parsedNext: header.next };
}

function timelineOf({ header }: Window): string | null | undefined {
  return header.history.current;
}
