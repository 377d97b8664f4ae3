/** What a window tells a pull. Pure. */
import type { Installation } from '../installation/installation.js';
import { type Header, joinHeaders, type Member } from '../store/header.js';
import type { KnownCookie } from './known-cookies.js';
import type { Window } from './window.js';

/** A pull, as far as the window is concerned. */
export interface Onlooker {
  readonly installation: Installation;
  readonly known: KnownCookie;
  readonly member: Member;
}

/**
 * The header of a pull; undefined if the window does not know it. If data has changed, a statement will follow: then
 * the header need not say what became of the client group, but only that it may have changed.
 */
export function headerIn(window: Window, { known, member, installation }: Onlooker): Header | undefined {
  // What has recorded the timeline in the meantime, only another statement shows.
  if (window.header.history.current === null) return undefined;
  const { tick, mutations } = known.cookie;
  const base = known.baseIn(window);
  const { tableIDs: tables } = installation;
  if (!member.sameGroup || !window.lists(tables) || !window.reaches(base)) return undefined;
  if (tick !== null && !window.knowsTick(tick)) return undefined;
  const { clientGroupID, clientID } = member;
  const { changed, truncated } = window.since(base, tables);
  const record = window.group(clientGroupID);
  const isClientKnown = clientID === undefined || record?.clients.some(([id]) => id === clientID) === true;
  const isUnmoved = record !== undefined && isClientKnown && !window.hasMoved(base, clientGroupID);
  if (changed.length === 0 && !isUnmoved) return undefined;
  return joinHeaders(
    window.header,
    { owner: record?.owner ?? null, clientKnown: true, lastMutationIDs: isUnmoved ? null : {}, mutations },
    { changed, truncated, diverged: false },
  );
}
