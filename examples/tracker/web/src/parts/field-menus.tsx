/** The menus that change an issue's fields. */
import type { ReactNode } from 'react';
import { priorities, priorityNames, statuses, statusNames } from '../../../src/fields.js';
import type { Issue } from '../../../src/views.js';
import { useStore } from '../store.js';
import { Avatar } from './avatar.js';
import { PriorityIcon, StatusIcon } from './field-icons.js';
import { Menu } from './menu.js';
import { usePeople } from './use-people.js';

/** The fields of an issue, or of a draft of one. */
export type Fields = Pick<Issue, 'status' | 'priority' | 'assigneeID' | 'assignee' | 'assigneeHue'>;

interface FieldMenuProps {
  readonly issue: Fields & { readonly id?: string };
  /** True to show the value's name beside its icon. */
  readonly isNamed?: boolean;
  /** Called instead of changing the issue. */
  readonly onChange?: (change: Partial<Fields>) => void;
}

function useChange({ issue: { id }, onChange }: FieldMenuProps) {
  const { client } = useStore();
  return (change: Partial<Fields>) => {
    if (onChange) return onChange(change);
    const { status, priority, assigneeID } = change;
    client.mutate.issue.update({ id: id!, status, priority, assigneeID });
  };
}

const statusOptions = statuses.map((status) => ({
  value: status,
  text: statusNames[status],
  icon: <StatusIcon status={status} />,
}));

export function StatusMenu(props: FieldMenuProps) {
  const { status } = props.issue;
  const change = useChange(props);
  const text = statusNames[status];
  return (
    <Menu
      name="status"
      label={`Status: ${text}`}
      value={status}
      options={() => statusOptions}
      onChoose={(chosen) => change({ status: chosen })}
    >
      <StatusIcon status={status} />
      {props.isNamed && text}
    </Menu>
  );
}

const priorityOptions = priorities.map((priority) => ({
  value: priority,
  text: priorityNames[priority],
  icon: <PriorityIcon priority={priority} />,
}));

export function PriorityMenu(props: FieldMenuProps) {
  const { priority } = props.issue;
  const change = useChange(props);
  const text = priorityNames[priority];
  return (
    <Menu
      name="priority"
      label={`Priority: ${text}`}
      value={priority}
      options={() => priorityOptions}
      onChoose={(chosen) => change({ priority: chosen })}
    >
      <PriorityIcon priority={priority} />
      {props.isNamed && text}
    </Menu>
  );
}

export function AssigneeMenu(props: FieldMenuProps) {
  const { assigneeID, assignee, assigneeHue } = props.issue;
  const people = usePeople();
  const change = useChange(props);
  const text = assignee ?? 'Nobody';
  const options = (): { value: string | null; text: string; icon: ReactNode }[] => [
    { value: null, text: 'Nobody', icon: <Avatar name={null} hue={null} /> },
    ...people.map(({ id, name, hue }) => ({ value: id, text: name, icon: <Avatar name={name} hue={hue} /> })),
  ];
  const choose = (id: string | null) => {
    const person = people.find((one) => one.id === id);
    change({ assigneeID: id, assignee: person?.name ?? null, assigneeHue: person?.hue ?? null });
  };
  return (
    <Menu name="assignee" label={`Assignee: ${text}`} value={assigneeID} options={options} onChoose={choose}>
      <Avatar name={assignee} hue={assigneeHue} />
      {props.isNamed && text}
    </Menu>
  );
}
