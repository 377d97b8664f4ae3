/** Records what pages report about their clients and calls. */
import type { CallKind, PageEvent } from './page/setup.js';

export interface LoggedClient {
  readonly name: string;
  readonly slot: number;
  readonly profile: number;
  readonly user: string;
  /** The sequence number of its first report. */
  readonly openedAt: number;
  /** True after its page was closed or reloaded, or its user has signed out. */
  hasEnded: boolean;
  state: string;
  /** Its last reports, each with its time in milliseconds. */
  readonly reports: { readonly at: number; readonly what: string }[];
}

/** The maximum number of events that are kept of a client. */
const maxReports = 40;

export interface LoggedCall {
  readonly id: string;
  readonly kind: CallKind;
  readonly client: LoggedClient;
  outcome: 'none' | 'resolved' | 'rejected';
  code: string;
  /** Its client and number, as in `refused`; null if it was confirmed before the page could read them. */
  mutation: string | null;
  /** True if the status was `saved` after the call had resolved. The call must then survive its tab. */
  isSaved: boolean;
}

export class Ledger {
  readonly clients = new Map<string, LoggedClient>();
  readonly calls = new Map<string, LoggedCall>();
  /** The mutations that any client has listed as refused. */
  readonly refused = new Set<string>();
  readonly stuck: { readonly client: LoggedClient; readonly what: string }[] = [];
  readonly #unsaved = new Map<string, LoggedCall[]>();
  readonly #signOuts: { readonly profile: number; readonly user: string; readonly at: number }[] = [];
  #now = 0;

  add(event: PageEvent, profile: number): void {
    this.#now++;
    if (event.type === 'opened') {
      this.#open(event, profile);
      return;
    }
    const client = this.clients.get(event.client)!;
    const { type, client: _, ...details } = event;
    client.reports.push({ at: performance.now(), what: `${type} ${Object.values(details).join(' ')}` });
    if (client.reports.length > maxReports) client.reports.shift();
    switch (event.type) {
      case 'begun': {
        const { call: id, kind } = event;
        const call: LoggedCall = { id, kind, client, outcome: 'none', code: '', mutation: null, isSaved: false };
        this.calls.set(id, call);
        return;
      }
      case 'resolved': {
        const call = this.calls.get(event.call)!;
        Object.assign(call, { outcome: 'resolved', mutation: event.mutation, isSaved: event.storage === 'saved' });
        if (!call.isSaved) this.#unsaved.get(client.name)!.push(call);
        return;
      }
      case 'rejected':
        Object.assign(this.calls.get(event.call)!, { outcome: 'rejected', code: event.code });
        return;
      case 'status':
        client.state = event.state;
        if (event.storage === 'saved') {
          for (const call of this.#unsaved.get(client.name)!.splice(0)) call.isSaved = true;
        }
        return;
      case 'refused':
        this.refused.add(event.mutation);
        return;
      case 'stuck':
        this.stuck.push({ client, what: event.what });
    }
  }

  #open({ client: name, slot, user }: Extract<PageEvent, { type: 'opened' }>, profile: number): void {
    for (const earlier of this.clients.values()) if (earlier.slot === slot) earlier.hasEnded = true;
    const openedAt = this.#now;
    this.clients.set(name, { name, slot, profile, user, openedAt, hasEnded: false, state: 'connecting', reports: [] });
    this.#unsaved.set(name, []);
  }

  /** Records that the tab with these clients was closed. */
  end(slots: readonly number[]): void {
    for (const client of this.clients.values()) if (slots.includes(client.slot)) client.hasEnded = true;
  }

  /** Records that a user has signed out in a browser profile, which deletes all their data there. */
  signOut(profile: number, user: string): void {
    this.#signOuts.push({ profile, user, at: this.#now });
  }

  /** True if the user signed out after the call. A sign-out deletes pending calls. */
  isSignedOut({ client: { profile, user, openedAt } }: LoggedCall): boolean {
    return this.#signOuts.some((out) => out.profile === profile && out.user === user && out.at >= openedAt);
  }
}
