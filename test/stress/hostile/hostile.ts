/** Runs clients in a hostile browser behind a hostile network, and judges what must hold at the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { launchChromium } from '../../e2e/browser/chromium.js';
import { Random } from '../oracle/random.js';
import { actUntil, type Done } from './actions.js';
import { type Application, serveApplication } from './application.js';
import { type Failure, judgeCalls } from './judge.js';
import { Ledger } from './ledger.js';
import type { PlatformFunction, Shown } from './page/setup.js';
import { TreatmentPlan } from './plan.js';
import { openProxy } from './proxy.js';
import { type HostileTab, openProfiles, pageFiles } from './tabs.js';

export interface HostileOptions {
  readonly chromium: string;
  readonly seed: number;
  readonly clients: number;
  readonly seconds: number;
  /** The factor for the pauses of users and faults. Above 1 on slow machines. */
  readonly pace?: number;
  readonly progress: (message: string) => void;
}

/** A failure, and the clients that it concerns. */
interface RunFailure extends Omit<Failure, 'slot'> {
  readonly slots: readonly number[];
}

export interface HostileResult {
  /** All failures, each with the history of its client. Empty on success. */
  readonly failures: readonly string[];
  /** The number of events of each kind. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Functions that browsers in use lack. Each profile lacks at most one of them. */
const missing: readonly PlatformFunction[] = [
  'navigator.locks',
  'BroadcastChannel',
  'AbortSignal.any',
  'AbortSignal.timeout',
  'TextDecoderStream',
  'Response.prototype.body',
  'XMLHttpRequest',
];

/** Shorter than the default, so that a request that is stuck at the end is sent again within `convergeMs`. */
const limits = {
  requests: { maxHeadersMs: 3_000, maxSilenceMs: 2_000 },
  stores: { maxOpenMs: 3_000, maxOperationMs: 3_000 },
};
/** A client needs 40 seconds to detect a swallowed stream of pokes. Until then, it relies on its pulls. */
const pullInterval = 2_500;
/** The mean pause between two calls of any clients, in milliseconds. Each call makes its user's clients pull. */
const pauseMs = 130;
/** The maximum number of reloads of a tab. On a busy machine, working storage may not open in time. */
const maxReloads = 3;
/** The time after the end in which all clients must show the server's rows. */
const convergeMs = 10_000;

export async function runHostile({
  chromium,
  seed,
  clients,
  seconds,
  pace = 1,
  progress,
}: HostileOptions): Promise<HostileResult> {
  const random = new Random(seed);
  const plan = new TreatmentPlan(seed);
  const ledger = new Ledger();
  const application = await serveApplication(await pageFiles());
  const proxy = await openProxy(() => application.url, plan.treat);
  const browser = await launchChromium(chromium);
  try {
    const failures: RunFailure[] = [];
    const done: Done[] = [];
    const profiles = await openProfiles(
      browser,
      {
        clients,
        // Locks need a secure context, and localhost is one.
        url: proxy.url.replace('127.0.0.1', 'localhost'),
        missing: (profile) => (profile % 2 === 1 ? [missing[(seed + (profile >> 1)) % missing.length]!] : []),
        setup: { seed, limits, pullInterval, pauseMs: pauseMs * clients * pace },
      },
      ledger,
      (slots, error) => {
        failures.push({ slots, text: `page error: ${error}` });
        progress(`page error of clients ${slots}: ${error}`);
      },
    );
    const tabs = profiles.flatMap((profile) => profile.tabs);
    progress(`${slotsOf(tabs).length} clients in ${tabs.length} tabs of ${profiles.length} profiles`);
    plan.isOn = true;
    const end = performance.now() + seconds * 1_000;
    const progressTimer = setInterval(() => progress(`${ledger.calls.size} calls, ${done.length} actions`), 10_000);
    await actUntil(end, tabs, { random, plan, ledger, pace }, (what) => done.push(what));
    clearInterval(progressTimer);
    await Promise.all(tabs.map(({ page }) => page.evaluate(() => window.hostile.stop())));
    plan.isOn = false;
    progress('the end');
    failures.push(...(await converge(application, tabs, progress)));
    for (let n = 0; n < maxReloads && (await reloadFromMemory(tabs)); n++) {
      failures.push(...(await converge(application, tabs, progress)));
    }
    const verdict = judgeCalls(ledger, await application.executions(), await application.confirmed());
    failures.push(...verdict.failures.map(({ slot, ...failure }) => ({ slots: [slot], ...failure })));
    const started = end - seconds * 1_000;
    return {
      failures: failures.map((failure) => `${failure.text}\n${history(failure, plan, done, started)}`),
      counts: { ...verdict.counts, ...count(done.map(({ action }) => action)), ...treatments(plan) },
    };
  } finally {
    await browser.close();
    proxy.close();
    await application.close();
  }
}

function slotsOf(tabs: readonly HostileTab[]): number[] {
  return tabs.flatMap(({ slots }) => slots);
}

/**
 * Reloads tabs with a client in memory. Such a client does not send what an earlier one has stored, but the next start
 * with working storage does.
 * @returns true if there were any
 */
async function reloadFromMemory(tabs: readonly HostileTab[]): Promise<boolean> {
  let isAny = false;
  for (const tab of tabs) {
    const clients = await tab.page.evaluate(() => window.hostile.show());
    if (clients.every(({ storage }) => storage !== 'memory')) continue;
    isAny = true;
    await tab.reload();
    await tab.page.evaluate(() => window.hostile.stop());
  }
  return isAny;
}

/** Waits until all clients show the server's rows. @returns those that do not in time */
async function converge(
  application: Application,
  tabs: readonly HostileTab[],
  progress: (message: string) => void,
): Promise<RunFailure[]> {
  const start = performance.now();
  for (;;) {
    const shown = (await Promise.all(tabs.map(({ page }) => page.evaluate(() => window.hostile.show())))).flat();
    const different: RunFailure[] = [];
    for (const user of new Set(shown.map(({ user }) => user))) {
      const entries = await application.entries(user);
      for (const client of shown) {
        const text = client.user === user ? difference(client, entries) : null;
        if (text) different.push({ slots: [client.slot], text });
      }
    }
    const ms = performance.now() - start;
    if (different.length === 0) progress(`all are equal to the server after ${Math.round(ms)} ms`);
    if (different.length === 0 || ms > convergeMs) return different;
    await sleep(250);
  }
}

/** The difference between a client and the server; null if there is none. */
function difference({ client, user, state, error, storage, pending, entries }: Shown, server: string[]): string | null {
  const shown = [...entries].sort();
  const expected = [...server].sort();
  const lacks = expected.filter((entry) => !entries.includes(entry));
  const more = shown.filter((entry) => !server.includes(entry));
  if (state === 'online' && pending === 0 && lacks.length + more.length === 0) return null;
  const some = (list: string[]) => `${list.length} (${list.slice(0, 3).join(', ')})`;
  return `${client} of ${user} is ${state}, ${storage}, has ${pending} pending, lacks ${some(lacks)}, and has ${some(more)} too many; ${error}`;
}

/** The last requests of some clients, the actions on their tabs and profiles, and the last events of one of them. */
function history(
  { slots, reports = [] }: RunFailure,
  plan: TreatmentPlan,
  done: readonly Done[],
  started: number,
): string {
  const requests = plan.treated
    .filter(({ slot }) => slots.includes(slot))
    .map(({ at, slot, kind, n, treatment: { kind: name, ms } }) => ({
      at,
      text: `client ${slot}, ${kind} ${n}: ${name}${ms === undefined ? '' : ` ${ms} ms`}`,
    }));
  const profiles = new Set(
    done.filter((each) => each.slots.some((slot) => slots.includes(slot))).map((each) => each.profile),
  );
  const actions = done
    .filter(({ profile }) => profiles.has(profile))
    .map(({ at, slots, action, detail }) => ({ at, text: `tab of ${slots.join(' and ')}: ${action}${detail}` }));
  const until = reports.at(-1)?.at ?? Number.POSITIVE_INFINITY;
  return [...requests, ...actions, ...reports.map(({ at, what }) => ({ at, text: `reported: ${what}` }))]
    .filter(({ at }) => at < until + 30_000)
    .sort((a, b) => a.at - b.at)
    .slice(-120)
    .map(({ at, text }) => `    ${((at - started) / 1_000).toFixed(2)} s  ${text}`)
    .join('\n');
}

function treatments({ treated }: TreatmentPlan): Record<string, number> {
  return count(treated.map(({ kind, treatment }) => `${kind}: ${treatment.kind}`));
}

function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
