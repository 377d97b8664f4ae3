/** The keys of the client view, the same as the server's. */

export const prefixes = { list: 'list/', todo: 'todo/', share: 'share/' } as const;

export const listKey = (id: string): string => prefixes.list + id;
export const todoKey = (id: string): string => prefixes.todo + id;
export const sharesOfList = (listID: string): string => `${prefixes.share}${escapePart(listID)}/`;
export const shareKey = (listID: string, userID: string): string => sharesOfList(listID) + escapePart(userID);

/** In a key of several parts, a slash within a part must not end it. */
function escapePart(part: string): string {
  return part.replaceAll('%', '%25').replaceAll('/', '%2F');
}

/** A random ID. Not from `crypto.randomUUID`, which exists only in secure contexts. */
export function newID(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
