/** What pages have told about their clients and calls. */
import type { CallKind, PageEvent } from './page/setup.js';

export interface LoggedClient {
  readonly name: string;
  readonly slot: number;
  readonly profile: number;
  readonly user: string;
  /** In the order in which the ledger has heard of them. */
  readonly openedAt: number;
  /** True once its page is closed or loaded again, or its user has signed out. */
  hasEnded: boolean;
  state: string;
  /** What it has told last, each with the moment, in milliseconds. */
  readonly told: { readonly at: number; readonly what: string }[];
}

/** How many of its last events are kept of a client. */
const maxTold = 40;

export interface LoggedCall {
  readonly id: string;
  readonly kind: CallKind;
  readonly client: LoggedClient;
  outcome: 'none' | 'resolved' | 'rejected';
  code: string;
  /** Its client and number, as in `refused`; null if it was confirmed before that could be read. */
  mutation: string | null;
  /** True if the status said `saved` after the call had resolved: it must survive its tab. */
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
    client.told.push({ at: performance.now(), what: `${type} ${Object.values(details).join(' ')}` });
    if (client.told.length > maxTold) client.told.shift();
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
        if (event.storage === 'saved')
          for (const call of this.#unsaved.get(client.name)!.splice(0)) call.isSaved = true;
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
    this.clients.set(name, { name, slot, profile, user, openedAt, hasEnded: false, state: 'connecting', told: [] });
    this.#unsaved.set(name, []);
  }

  /** Records that a tab with these clients is closed. */
  end(slots: readonly number[]): void {
    for (const client of this.clients.values()) if (slots.includes(client.slot)) client.hasEnded = true;
  }

  /** Records that a user has signed out in a browser profile, where nothing of theirs is kept. */
  signOut(profile: number, user: string): void {
    this.#signOuts.push({ profile, user, at: this.#now });
  }

  /** True if the user of a call has signed out after it: a sign-out deletes what is pending. */
  isSignedOut({ client: { profile, user, openedAt } }: LoggedCall): boolean {
    return this.#signOuts.some((out) => out.profile === profile && out.user === user && out.at >= openedAt);
  }
}
