/** The clients of a page, which make calls continuously and report the outcomes. */
import { openClient } from '../../../../packages/client/src/create-client.js';
import type { Client } from '../../../../packages/client/src/index.js';
import { Random } from '../../oracle/random.js';
import type { mutators, views } from '../application.js';
import { setClock, setup } from './platform.js';
import type { CallKind, PageEvent, Shown, StorageFault } from './setup.js';
import { breakStorage } from './storage.js';
import { watch } from './stuck.js';

type EntryClient = Client<typeof mutators, typeof views>;

declare global {
  interface Window {
    report(event: PageEvent): Promise<void>;
    hostile: {
      setClock(offsetMs: number): void;
      breakStorage(fault: StorageFault, ms: number): void;
      /** Blocks the page's thread. */
      loop(ms: number): void;
      setOnline(online: boolean): void;
      signOut(user: string): Promise<void>;
      /** Stops making calls. Resolves when the current ones have settled. */
      stop(): Promise<void>;
      show(): Promise<Shown[]>;
    };
  }
}

/** The number of times that this tab has loaded. */
const loads = Number(sessionStorage.getItem('loads')) + 1;
sessionStorage.setItem('loads', `${loads}`);
const load = `${loads}-${crypto.randomUUID().slice(0, 8)}`;

const report = (event: PageEvent) => void window.report(event).catch(() => {});

const largeBytes = 40_000;

class Caller {
  readonly #slot: number;
  readonly user: string;
  readonly #name: string;
  readonly #random: Random;
  readonly client: EntryClient;
  readonly #calls = new Set<Promise<void>>();
  readonly #refused = new Set<string>();
  #made: string[] = [];
  #count = 0;
  #isStopped = false;

  constructor(slot: number, user: string) {
    this.#slot = slot;
    this.user = user;
    this.#name = `${slot}/${load}`;
    this.#random = new Random(setup.seed).stream(slot).stream(loads);
    const auth = `Bearer ${user}/${slot}`;
    const { client } = openClient(
      {
        user,
        auth,
        getAuth: () => auth,
        pullInterval: setup.pullInterval,
        mutators: {
          entry: {
            add: (tx: never, args: never) => add(tx, args),
            remove: (tx: never, args: never) => remove(tx, args),
          },
        },
      } as never,
      setup.limits,
    );
    this.client = client as never;
    report({ type: 'opened', client: this.#name, slot, user });
    this.#follow();
  }

  #follow(): void {
    const { status, pending, refused } = this.client;
    const reportStatus = () => {
      const { state, storage } = status.get();
      report({ type: 'status', client: this.#name, state, storage });
    };
    status.subscribe(reportStatus);
    reportStatus();
    refused.subscribe(() => {
      for (const { clientID, mutationID } of refused.get()) {
        const mutation = `${clientID} ${mutationID}`;
        if (this.#refused.has(mutation)) continue;
        this.#refused.add(mutation);
        report({ type: 'refused', client: this.#name, mutation });
      }
    });
    const onStuck = (what: string) => report({ type: 'stuck', client: this.#name, what });
    watch({ slot: this.#slot, status, pending, onStuck });
  }

  async run(): Promise<void> {
    while (!this.#isStopped && this.client.status.get().state !== 'closed') {
      await new Promise((resolve) => setTimeout(resolve, this.#random.between(0, 2 * setup.pauseMs)));
      if (this.#isStopped) return;
      const call = this.#call();
      this.#calls.add(call);
      void call.then(() => this.#calls.delete(call));
      // A hanging store delays its call. Other calls are made nevertheless.
      if (this.#random.chance(0.5)) await Promise.race([call, new Promise((resolve) => setTimeout(resolve, 3_000))]);
    }
  }

  async #call(): Promise<void> {
    const kind = this.#random.weighted<CallKind>([
      [75, 'add'],
      [15, 'remove'],
      [6, 'refuse'],
      [4, 'large'],
    ]);
    const call = `${this.#name}/${++this.#count}`;
    report({ type: 'begun', client: this.#name, call, kind });
    try {
      await this.#mutate(kind, call);
    } catch (error) {
      const { code, name, message } = error as { code?: string; name: string; message: string };
      report({ type: 'rejected', client: this.#name, call, code: code ?? `${name}: ${message}` });
      return;
    }
    const { storage } = this.client.status.get();
    const made = this.client.pending.get().find(({ args }) => (args as { id?: string } | null)?.id === call);
    report({
      type: 'resolved',
      client: this.#name,
      call,
      mutation: made ? `${made.clientID} ${made.id}` : null,
      storage,
    });
  }

  #mutate(kind: CallKind, id: string): Promise<void> {
    const { entry } = this.client.mutate;
    if (kind === 'refuse') return entry.refuse({ id });
    const target = kind === 'remove' ? this.#made.shift() : undefined;
    if (target !== undefined) return entry.remove({ id, target });
    this.#made.push(id);
    return entry.add({ id, body: 'x'.repeat(kind === 'large' ? largeBytes : this.#random.between(0, 500)) });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#calls);
  }

  async show(): Promise<Shown> {
    const { state, error, storage } = this.client.status.get();
    const about = { client: this.#name, slot: this.#slot, user: this.user, state, storage };
    const rows = state === 'closed' ? [] : await this.client.view('entry').list();
    return {
      ...about,
      error: error && `${error.code}: ${error.message}`,
      pending: this.client.pending.get().length,
      entries: rows.map(({ id, executions, bytes }) => `${id} ${executions} ${bytes}`),
    };
  }
}

interface EntryWrites {
  view(name: 'entry'): { set(key: string, value: object): Promise<void>; delete(key: string): Promise<unknown> };
}

function add(tx: EntryWrites, { id, body }: { readonly id: string; readonly body: string }): Promise<void> {
  return tx.view('entry').set(id, { id, executions: 1, bytes: body.length });
}

async function remove(tx: EntryWrites, { target }: { readonly target: string }): Promise<void> {
  await tx.view('entry').delete(target);
}

const callers = setup.clients.map(({ slot, user }) => new Caller(slot, user));

window.hostile = {
  setClock,
  breakStorage,
  loop(ms) {
    const end = performance.now() + ms;
    while (performance.now() < end);
  },
  setOnline(online) {
    for (const { client } of callers) client.setOnline(online);
  },
  async signOut(user) {
    await Promise.all(callers.filter((caller) => caller.user === user).map(({ client }) => client.signOut()));
  },
  async stop() {
    await Promise.all(callers.map((caller) => caller.stop()));
  },
  show: () => Promise.all(callers.map((caller) => caller.show())),
};

for (const caller of callers) void caller.run();
