import type { Locator, Page } from 'playwright-core';

/** One user's application on a page, located by what assistive technology finds. */
export interface App {
  readonly lists: Locator;
  list(name: string): Locator;
  readonly newList: Locator;
  readonly todos: Locator;
  readonly items: Locator;
  /** A todo's checkbox. */
  todo(title: string): Locator;
  /** The checkbox of a done todo. */
  done(title: string): Locator;
  readonly newTodo: Locator;
  readonly offline: Locator;
  readonly sync: Locator;
  /** The messages to the user. */
  readonly notices: Locator;
  button(name: string): Locator;
}

/** The application that fills a page, or a section of the page with both. */
export function appIn(scope: Page | Locator): App {
  const lists = scope.getByRole('navigation', { name: 'Lists' });
  const todos = scope.getByRole('list', { name: 'Todos' });
  return {
    lists,
    list: (name) => lists.getByRole('link', { name: new RegExp(`^${name}`) }),
    newList: scope.getByRole('textbox', { name: 'New list' }),
    todos,
    items: todos.getByRole('listitem'),
    todo: (title) => todos.getByRole('checkbox', { name: title, exact: true }),
    done: (title) => todos.getByRole('checkbox', { name: title, exact: true, checked: true }),
    newTodo: scope.getByRole('textbox', { name: 'New todo' }),
    offline: scope.getByRole('switch', { name: 'Offline' }),
    sync: scope.getByRole('status', { name: 'Sync' }),
    notices: scope.getByRole('status', { name: 'Notices' }),
    button: (name) => scope.getByRole('button', { name, exact: true }),
  };
}
