import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { statusNames } from '../../../src/fields.js';
import type { Project } from '../../../src/views.js';
import { StatusIcon } from '../parts/field-icons.js';
import type { Group } from './arrange.js';
import { EmptyList } from './empty-list.js';
import { IssueRow } from './issue-row.js';
import type { Selection } from './use-selection.js';

interface IssueListProps {
  readonly project: Project | undefined;
  readonly groups: readonly Group[];
  readonly isReady: boolean;
  readonly isMissing: boolean;
  readonly isSearch: boolean;
  readonly selection: Selection;
  readonly opened: string | undefined;
  readonly onOpen: (id: string) => void;
  readonly onCreate: () => void;
}

const rowHeight = 38;
/** On the server, which does not know the height of the window. */
const firstRect = { width: 800, height: 1200 };

/** The issues by status. Only the visible ones are in the DOM, and the selected one. */
export function IssueList(props: IssueListProps) {
  const { project, groups, isReady, isMissing, isSearch, selection, opened, onOpen, onCreate } = props;
  const { selected, isByKey } = selection;
  const scroller = useRef<HTMLDivElement>(null);
  const items = useMemo(
    () =>
      groups.flatMap(({ status, issues }) => [{ status, count: issues.length }, ...issues.map((issue) => ({ issue }))]),
    [groups],
  );
  const index = items.findIndex((item) => 'issue' in item && item.issue.id === selected);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    getItemKey: (at) => ('issue' in items[at]! ? items[at].issue.id : items[at]!.status),
    estimateSize: () => rowHeight,
    initialRect: firstRect,
    overscan: 10,
    scrollPaddingStart: rowHeight,
    rangeExtractor: useCallback(
      (range: Range) => {
        const rows = defaultRangeExtractor(range);
        return index < 0 || rows.includes(index) ? rows : [...rows, index];
      },
      [index],
    ),
  });
  const shown = useRef<string>(undefined);
  useEffect(() => {
    // A row that moves, because its status has changed, keeps the selection but does not scroll the list.
    if (index < 0 || !isByKey || shown.current === selected) return;
    shown.current = selected;
    virtualizer.scrollToIndex(index);
    document.querySelector<HTMLElement>('.issue.selected .title')?.focus({ preventScroll: true });
  }, [index, isByKey, selected, virtualizer]);

  if (items.length === 0) {
    return <EmptyList {...{ project, isReady, isMissing, isSearch, onCreate }} />;
  }
  return (
    <div className="issues" ref={scroller}>
      <ul aria-label="Issues" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index: at, key, start }) => {
          const item = items[at]!;
          const style = { transform: `translateY(${start}px)` };
          return 'issue' in item ? (
            <IssueRow
              key={key}
              style={style}
              issue={item.issue}
              projectKey={project?.key ?? ''}
              isSelected={item.issue.id === selected}
              isOpened={item.issue.id === opened}
              onSelect={selection.select}
              onOpen={onOpen}
            />
          ) : (
            <li key={key} className="group" style={style}>
              <StatusIcon status={item.status} />
              {statusNames[item.status]} <span className="count">{item.count}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
