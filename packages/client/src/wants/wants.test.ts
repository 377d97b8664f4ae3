/** Several tabs over one storage, with fake timers. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { instanceText } from './instance.js';
import { WantStore } from './want-store.js';
import { Wants } from './wants.js';

/** A storage as in browsers: a change is announced to all tabs but the one that makes it. */
class FakeStorage {
  getItem(key: string): string | null {
    return (this as unknown as Record<string, string>)[key] ?? null;
  }
  setItem(key: string, text: string): void {
    Object.assign(this, { [key]: text });
    announce(key, text);
  }
  removeItem(key: string): void {
    if (this.getItem(key) === null) return;
    delete (this as unknown as Record<string, string>)[key];
    announce(key, null);
  }
}

type StorageListener = (event: { key: string | null; newValue: string | null }) => void;
const listeners = new Set<StorageListener>();
/** Announced in a later task, to the listeners that still exist. The tab that makes a change ignores it. */
function announce(key: string | null, newValue: string | null): void {
  setTimeout(() => {
    for (const listener of listeners) listener({ key, newValue });
  });
}

const [a, b, c] = ['a', 'b', 'c'].map((id) => instanceText('issue', { id })) as [string, string, string];
let storage: Storage;
let tabs: number;

beforeEach(() => {
  vi.useFakeTimers();
  storage = new FakeStorage() as unknown as Storage;
  tabs = 0;
  vi.stubGlobal('addEventListener', (_: string, listener: StorageListener) => listeners.add(listener));
  vi.stubGlobal('removeEventListener', (_: string, listener: StorageListener) => listeners.delete(listener));
});
afterEach(() => {
  listeners.clear();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const openTab = (name = 'ann', schemaVersion = '') =>
  new Wants(new WantStore(storage, name, schemaVersion, `t${tabs++}`));
/** Ends all tabs as a crash does: without a call. */
function crash(): void {
  const now = Date.now();
  vi.clearAllTimers();
  vi.setSystemTime(now);
  listeners.clear();
}
const seconds = (count: number) => vi.advanceTimersByTime(1_000 * count);
const texts = (wants: Wants) => wants.texts.toSorted();

describe('an instance is wanted', () => {
  it('while it is in use, however long', () => {
    const tab = openTab();
    tab.use(a, 0);
    seconds(86_400);
    expect(texts(tab)).toEqual([a]);
  });

  it('for its `ttl` after its last use: five minutes by default', () => {
    const tab = openTab();
    const ends = [tab.use(a), tab.use(a), tab.use(b, 10_000), tab.use(c, 0)];
    ends[0]!();
    ends[0]!();
    seconds(400);
    expect(texts(tab)).toEqual([a, b, c]);
    for (const end of ends) end();
    expect(texts(tab)).toEqual([a, b]);
    seconds(9);
    expect(texts(tab)).toEqual([a, b]);
    seconds(2);
    expect(texts(tab)).toEqual([a]);
    seconds(288);
    expect(texts(tab)).toEqual([a]);
    seconds(2);
    expect(texts(tab)).toEqual([]);
  });

  it('for the longest `ttl` of its uses, which may be endless', () => {
    const tab = openTab();
    const [short, endless] = [tab.use(a, 0), tab.use(a, 'forever')];
    endless();
    short();
    seconds(1e7);
    expect(texts(tab)).toEqual([a]);
  });
});

it('instances in use come first, in a stable order', () => {
  const [tab, other] = [openTab(), openTab()];
  tab.use(c);
  tab.use(b)();
  other.use(a);
  other.use(c);
  seconds(1);
  expect([tab.texts, other.texts]).toEqual([
    [c, a, b],
    [a, c, b],
  ]);
  tab.use(b);
  expect(tab.texts).toEqual([b, c, a]);
});

it('a change is announced once for all changes of a task', () => {
  const tab = openTab();
  tab.onChange = vi.fn();
  const end = tab.use(a);
  tab.use(b);
  seconds(1);
  expect(tab.onChange).toHaveBeenCalledTimes(1);
  end();
  seconds(1);
  expect(tab.onChange).toHaveBeenCalledTimes(2);
  tab.end(false);
  tab.use(c);
  seconds(1);
  expect(tab.onChange).toHaveBeenCalledTimes(2);
});

it('a follower is called when this tab or another one wants more, and not when they want less', () => {
  const [one, two] = [openTab(), openTab()];
  const end = one.use(a, 0);
  seconds(1);
  const onOthers = vi.fn();
  expect(one.follow(onOthers)).toEqual([{ view: 'issue', args: { id: 'a' } }]);
  two.use(a);
  end();
  seconds(1);
  expect(onOthers).not.toHaveBeenCalled();
  two.use(b);
  seconds(1);
  expect(onOthers).toHaveBeenCalled();
  const next = vi.fn();
  expect(one.follow(next)).toHaveLength(2);
  one.use(c);
  seconds(1);
  expect(next).toHaveBeenCalled();
});

describe('the tabs of a user', () => {
  it('want what any of them wants, for one schema version', () => {
    const [one, two, old, other] = [openTab(), openTab(), openTab('ann', '1'), openTab('ann b')];
    one.use(a, 0);
    const end = two.use(a, 0);
    two.use(b);
    seconds(1);
    for (const tab of [one, two]) expect(texts(tab)).toEqual([a, b]);
    for (const tab of [old, other]) expect(texts(tab)).toEqual([]);
    end();
    seconds(1);
    expect(texts(two)).toEqual([a, b]);
  });

  it('continue to want what an open tab uses, and soon drop what a crashed one used', () => {
    const one = openTab();
    one.use(a, 0);
    seconds(150);
    crash();
    const two = openTab();
    two.use(b, 0);
    expect(texts(two)).toEqual([a, b]);
    seconds(120);
    expect(texts(two)).toEqual([a, b]);
    seconds(180);
    expect(texts(two)).toEqual([b]);
  });

  it('want the same after a reload, as one tab', () => {
    const before = openTab();
    before.use(a);
    before.use(b, 'forever')();
    before.use(c, 1_000)();
    seconds(1);
    before.end(false);
    for (let i = 0; i < 5; i++) {
      seconds(120);
      crash();
      expect(texts(openTab()), `after reload ${i}`).toEqual(i < 2 ? [a, b] : [b]);
      expect(Object.keys(storage)).toHaveLength(1);
    }
  });

  it('keep what they want when a new tab takes over the wants of all, or all are deleted', () => {
    const one = openTab();
    one.use(a, 0);
    seconds(1);
    const two = openTab();
    two.end(false);
    seconds(1);
    const three = openTab();
    expect(texts(three)).toEqual([a]);
    for (const key of Object.keys(storage)) delete (storage as unknown as Record<string, string>)[key];
    announce(null, null);
    seconds(1);
    expect(texts(three)).toEqual([a]);
  });

  it('want nothing after a sign-out, whatever their schema versions', () => {
    const tabsOfAnn = [openTab(), openTab(), openTab('ann', '1')];
    const other = openTab('ann b');
    for (const tab of [...tabsOfAnn, other]) tab.use(a, 'forever');
    seconds(1);
    for (const tab of tabsOfAnn) {
      tab.end(true);
      // The others write theirs again.
      seconds(1);
    }
    expect(texts(openTab())).toEqual([]);
    expect(texts(openTab('ann', '1'))).toEqual([]);
    expect(texts(openTab('ann b'))).toEqual([a]);
  });
});

it('a full storage leaves each tab with its own wants', () => {
  const [one, two] = [openTab(), openTab()];
  vi.spyOn(storage, 'setItem').mockImplementation(() => {
    throw new DOMException('Full', 'QuotaExceededError');
  });
  one.use(a);
  seconds(1);
  expect([texts(one), texts(two)]).toEqual([[a], []]);
});

it('without a storage, the clients of the process share their wants', () => {
  const open = () => new Wants(new WantStore(undefined, 'ann', '', `t${tabs++}`));
  const [one, two] = [open(), open()];
  one.use(a);
  seconds(1);
  expect(texts(two)).toEqual([a]);
  two.end(true);
  expect(texts(open())).toEqual([]);
});
