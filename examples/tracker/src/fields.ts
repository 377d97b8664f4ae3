/** The values of an issue's fields, in the order of menus and lists. Shared by the server and the page. */

export const statuses = ['progress', 'review', 'todo', 'backlog', 'done', 'canceled'] as const;
export type Status = (typeof statuses)[number];

export const statusNames: Readonly<Record<Status, string>> = {
  progress: 'In progress',
  review: 'In review',
  todo: 'Todo',
  backlog: 'Backlog',
  done: 'Done',
  canceled: 'Canceled',
};

export const isOpen = (status: Status): boolean => status !== 'done' && status !== 'canceled';

/** From urgent to low, then none. */
export const priorities = [1, 2, 3, 4, 0] as const;
export type Priority = (typeof priorities)[number];

export const priorityNames: Readonly<Record<Priority, string>> = {
  0: 'No priority',
  1: 'Urgent',
  2: 'High',
  3: 'Medium',
  4: 'Low',
};
