/**
 * Checks what a caller may do. The message is the same for rows that do not exist and for rows that the caller may not
 * see, so it does not reveal which.
 */
import type { ClientBase } from 'pg';
import { MutatorError } from 'tidemark';

/** The rule of the views: the user `$2` sees their own lists, and those shared with them. */
const isVisible = '(owner_id = $2 or exists (select from share where share.list_id = list.id and user_id = $2))';

/** @throws MutatorError 404 unless the user sees the list, 403 unless the user owns it */
export async function requireOwner(tx: ClientBase, listID: string, user: string): Promise<void> {
  if (!(await requireList(tx, listID, user)).isOwner) {
    throw new MutatorError('Only the owner of this list may do that', { status: 403 });
  }
}

/** @throws MutatorError 404 unless the user sees the list */
export async function requireList(tx: ClientBase, listID: string, user: string): Promise<{ isOwner: boolean }> {
  const { rows } = await tx.query<{ isOwner: boolean }>(
    `select owner_id = $2 as "isOwner" from list where id = $1 and ${isVisible}`,
    [listID, user],
  );
  const [list] = rows;
  if (!list) throw new MutatorError('There is no such list, or it is not shared with you', { status: 404 });
  return list;
}

/** @throws MutatorError 404 unless the user sees the todo */
export async function requireTodo(tx: ClientBase, todoID: string, user: string): Promise<void> {
  const { rowCount } = await tx.query(
    `select from todo join list on list.id = list_id where todo.id = $1 and ${isVisible}`,
    [todoID, user],
  );
  if (rowCount === 0) {
    throw new MutatorError('There is no such todo, or its list is not shared with you', { status: 404 });
  }
}
