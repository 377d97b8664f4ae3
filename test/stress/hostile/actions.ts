/** Actions on tabs during a run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../../packages/client/src/within.js';
import type { Random } from '../oracle/random.js';
import type { Ledger } from './ledger.js';
import type { StorageFault } from './page/setup.js';
import type { TreatmentPlan } from './plan.js';
import type { HostileTab } from './tabs.js';

interface Scene {
  readonly tab: HostileTab;
  readonly random: Random;
  readonly plan: TreatmentPlan;
  readonly ledger: Ledger;
  /** Adds to the record of the action. */
  readonly note: (detail: string) => void;
}

const hourMs = 3_600_000;
const storageFaults: readonly StorageFault[] = ['full', 'aborts', 'refuses', 'hangs', 'disconnects'];

/** The actions by name, with their weights. After each of them, the tab runs. */
const actions = {
  close: [
    4,
    async ({ tab, random }) => {
      await tab.close();
      await sleep(random.between(0, 3_000));
      await tab.open();
    },
  ],
  'close, and open with a broken storage': [
    2,
    async ({ tab, random, note }) => {
      const storage = { fault: random.pick(storageFaults), ms: random.between(500, 8_000) };
      note(`${storage.fault} for ${storage.ms} ms`);
      await tab.close();
      await tab.open(storage);
    },
  ],
  reload: [3, ({ tab }) => tab.reload()],
  freeze: [
    3,
    async ({ tab, random }) => {
      await tab.setFrozen(true);
      await sleep(random.between(1_000, 8_000));
      await tab.setFrozen(false);
    },
  ],
  loop: [2, ({ tab, random }) => tab.page.evaluate((ms) => window.hostile.loop(ms), random.between(500, 4_000))],
  'clock jump': [2, ({ tab, random }) => jump(tab, random)],
  'storage fault': [
    5,
    async ({ tab, random, note }) => {
      const [fault, ms] = [random.pick(storageFaults), random.between(500, 8_000)];
      note(`${fault} for ${ms} ms`);
      await tab.page.evaluate(([fault, ms]) => window.hostile.breakStorage(fault, ms), [fault, ms] as const);
    },
  ],
  outage: [
    1,
    async ({ plan, random }) => {
      plan.isOutage = true;
      await sleep(random.between(500, 4_000));
      plan.isOutage = false;
    },
  ],
  'no network': [
    1,
    ({ tab, random }) =>
      withOthers(tab, async () => {
        await tab.page.context().setOffline(true);
        await sleep(random.between(500, 4_000));
        await tab.page.context().setOffline(false);
      }),
  ],
  'setOnline(false)': [
    1,
    async ({ tab, random }) => {
      await tab.page.evaluate(() => window.hostile.setOnline(false));
      await sleep(random.between(500, 4_000));
      await tab.page.evaluate(() => window.hostile.setOnline(true));
    },
  ],
  'sign-out': [1, signOut],
} satisfies Record<string, readonly [weight: number, act: (scene: Scene) => Promise<unknown>]>;

/** Shifts the clocks of all tabs of a profile together, as on one device, by seconds to hours in either direction. */
async function jump({ profile }: HostileTab, random: Random): Promise<void> {
  const size = random.pick([5_000, 60_000, hourMs, 12 * hourMs]);
  profile.clockOffsetMs += random.pick([-1, 1]) * random.between(1_000, size);
  for (const tab of profile.tabs) {
    await tab.page
      .evaluate((ms) => window.hostile.setClock(ms), profile.clockOffsetMs)
      .catch(() => {
        // The tab is being closed, and will open with the new clock.
      });
  }
}

/** Signs the user out in one tab and in again. The pages of the profile that have shown them are reloaded. */
async function signOut({ tab, random, ledger }: Scene): Promise<void> {
  const { profile } = tab;
  // Without these, a sign-out cannot reach the other tabs.
  if (profile.missing.some((name) => name === 'BroadcastChannel' || name === 'navigator.locks')) return;
  await withOthers(tab, async () => {
    const user = random.pick(tab.users);
    await tab.page
      .evaluate((user) => window.hostile.signOut(user), user)
      .catch((error: Error) => {
        // The storage may be broken. The next start deletes the data.
        if (!error.message.includes('their data is still in this browser')) throw error;
      });
    ledger.signOut(profile.number, user);
    for (const each of profile.tabs) if (each.users.includes(user)) await each.reload();
  });
}

/** Acts on all tabs of a profile, unless an action on another one of them is under way: its page may be loading. */
async function withOthers(tab: HostileTab, act: () => Promise<void>): Promise<void> {
  const others = tab.profile.tabs.filter((other) => other !== tab);
  if (others.some(({ isBusy }) => isBusy)) return;
  for (const other of others) other.isBusy = true;
  try {
    await act();
  } finally {
    for (const other of others) other.isBusy = false;
  }
}

export interface Done {
  readonly at: number;
  readonly slots: readonly number[];
  readonly profile: number;
  readonly action: string;
  detail: string;
}

/** The longest wait at the end for running actions, in milliseconds. A page may take two minutes to load. */
const maxActionMs = 150_000;

/**
 * Acts on random tabs until the end, and waits for the last action.
 * @throws AggregateError of the actions that failed or do not end
 */
export async function actUntil(
  end: number,
  tabs: readonly HostileTab[],
  { random, plan, ledger, pace }: Omit<Scene, 'tab' | 'note'> & { readonly pace: number },
  onDone: (done: Done) => void,
): Promise<void> {
  const running = new Map<Promise<void>, { readonly done: Done; readonly tab: HostileTab }>();
  const errors: unknown[] = [];
  const weighted = Object.entries(actions).map(([name, [weight]]) => [weight, name as keyof typeof actions] as const);
  // At a pace of 1, each tab gets an action every 12 seconds.
  const meanPauseMs = (12_000 * pace) / tabs.length;
  for (let n = 0; performance.now() < end; n++) {
    await sleep(random.between(0, 2 * meanPauseMs));
    const name = random.weighted(weighted);
    const tab = random.pick(tabs);
    if (tab.isBusy) continue;
    tab.isBusy = true;
    const done: Done = {
      at: performance.now(),
      slots: tab.slots,
      profile: tab.profile.number,
      action: name,
      detail: '',
    };
    onDone(done);
    const note = (detail: string) => {
      done.detail = `: ${detail}`;
    };
    const [, act] = actions[name];
    const acting = Promise.resolve(act({ tab, random: random.stream(n), plan, ledger, note })).then(
      () => {
        tab.isBusy = false;
        running.delete(acting);
      },
      (error: unknown) => {
        running.delete(acting);
        errors.push(new Error(`${name} of the tab of ${tab.slots}`, { cause: error }));
      },
    ) as Promise<void>;
    running.set(acting, { done, tab });
  }
  await within(Promise.all(running.keys()), maxActionMs).catch(async () => {
    const left = [...running.values()].map(
      async ({ done, tab }) => `${done.action} of the tab of ${tab.slots}, ${await tab.whereabouts()}`,
    );
    errors.push(new Error(`These actions do not end: ${(await Promise.all(left)).join('; ')}`));
  });
  if (errors.length > 0) throw new AggregateError(errors, 'An action failed');
}
