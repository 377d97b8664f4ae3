import type { Client } from '../create-client.js';
import { Cell, type Observable } from '../observable.js';
import type { ClientView, ViewState } from '../rows/view.js';
import { mayGetAnswer } from '../sync/may-answer.js';
import type { AnyViews } from '../types.js';
import { hasArrived } from './has-arrived.js';

/** The wait of a view with initial rows for rows that are no older. */
export interface AnswerWait {
  /** True once the view's own rows must show, because the server has answered, or because it cannot be reached. */
  readonly isOver: boolean;
  /** The keys of the rows that the user has changed until then. */
  readonly changedKeys: ReadonlySet<string>;
}

/** The wait before anything is known about it. */
export const noAnswerYet: AnswerWait = { isOver: false, changedKeys: new Set() };

/**
 * Returns the wait for the server's first answer for a view since the client was created. While the client cannot get one,
 * the rows of an earlier visit will do, if these are all. The observable is up to date while it has a listener, until the
 * wait is over.
 *
 * @param shown the rows that the component subscribes to
 */
export function observeAnswerWait(
  { status }: Pick<Client<never, AnyViews>, 'status'>,
  { observeAnswered, observeUnconfirmed }: ClientView<unknown>,
  shown: Observable<ViewState<unknown>>,
): Observable<AnswerWait> {
  return new Cell(noAnswerYet, (cell) => {
    const [isAnswered, unconfirmed] = [observeAnswered(), observeUnconfirmed()];
    const stops: (() => void)[] = [];
    const stop = () => {
      for (const each of stops.splice(0)) each();
    };
    const update = () => {
      const before = cell.get();
      if (before.isOver) return;
      const isFailing = !mayGetAnswer(status.get());
      const isOver = isAnswered.get() ? hasArrived(shown.get()) : isFailing && shown.get().complete;
      const changedKeys = unconfirmed.get();
      const hasChanges = changedKeys !== before.changedKeys && changedKeys.size + before.changedKeys.size > 0;
      if (isOver || hasChanges) cell.set({ isOver, changedKeys });
      // Tracking the keys costs something with each change of the data.
      if (isOver) stop();
    };
    for (const each of [shown, isAnswered, unconfirmed, status]) stops.push(each.subscribe(update));
    update();
    return stop;
  });
}
