import type { Observable } from '../observable.js';
import type { ViewState } from '../rows/view.js';
import type { Status } from '../sync/status.js';
import { hasArrived } from './has-arrived.js';

/** The time for a component to subscribe after the rows have arrived, in milliseconds. */
const subscribeMs = 10_000;
/** The time after which a suspended component must render again, in milliseconds. It may no longer exist. */
const maxWaitMs = 60_000;

const waits = new WeakMap<Observable<ViewState<unknown>>, Promise<void>>();

/**
 * Returns a promise for React to wait for, the same one for each render: it resolves when a view's rows arrive, and when
 * they no longer can. React drops the state of a component that it suspends, and runs none of its effects. So the wait
 * subscribes instead of the component, for as long as the component may need to do so itself.
 */
export function rowsArrival(view: Observable<ViewState<unknown>>, status: Observable<Status>): Promise<void> {
  const wait = waits.get(view) ?? startWait(view, status);
  waits.set(view, wait);
  return wait;
}

async function startWait(view: Observable<ViewState<unknown>>, status: Observable<Status>): Promise<void> {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const update = () => {
    if (hasArrived(view.get()) || view.get().refused || status.get().state === 'closed') end();
  };
  const stops = [view.subscribe(update), status.subscribe(update)];
  const timer = setTimeout(end, maxWaitMs);
  await ended;
  clearTimeout(timer);
  waits.delete(view);
  setTimeout(() => {
    for (const stop of stops) stop();
  }, subscribeMs);
}
