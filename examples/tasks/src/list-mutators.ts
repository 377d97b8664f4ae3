import { defineMutator, MutatorError } from 'tidemark';
import { requireOwner } from './access.js';
import { schemas } from './args.js';
import { filled } from './results.js';

const create = defineMutator(
  schemas['list.create'],
  async ({ tx, args, ctx }) => {
    const insert = 'insert into list (id, owner_id, name) values ($1, $2, $3) on conflict do nothing';
    const { rowCount } = await tx.query(insert, [args.id, ctx.userID, args.name]);
    if (rowCount === 0) throw new MutatorError('A list with this ID already exists', { status: 409 });
  },
  {
    summary: 'Create a list',
    description: 'The list belongs to the caller. Nobody else sees it until it is shared. 409 if the ID is taken.',
    examples: { 'A list of your own': { id: 'list-from-the-docs', name: 'Groceries' } },
  },
);

const remove = defineMutator(
  schemas['list.delete'],
  async ({ tx, args, ctx }) => {
    await requireOwner(tx, args.id, ctx.userID);
    await tx.query('delete from list where id = $1', [args.id]);
  },
  {
    summary: 'Delete a list',
    description: 'This also deletes its todos and shares. Only the owner may do this: 403 for others who see the list.',
    examples: {
      'A list of your own, with its todos': { id: 'ann-trip' },
      "Somebody else's list: refused": { id: 'ben-garden' },
    },
  },
);

const share = defineMutator(
  schemas['list.share'],
  async ({ tx, args, ctx }) => {
    await requireOwner(tx, args.listID, ctx.userID);
    if (args.userID === ctx.userID) throw new MutatorError('A list cannot be shared with its owner');
    const insert = 'insert into share (list_id, user_id) values ($1, $2) on conflict do nothing';
    await tx.query(insert, [args.listID, args.userID]);
  },
  {
    summary: 'Share a list with a user',
    description:
      'That user can see the list and change its todos. Only the owner may do this. ' +
      'Nothing changes if it is already shared with them.',
    examples: {
      'A list of your own': { listID: 'ann-work', userID: 'cam' },
      "Somebody else's list: refused": { listID: 'ben-garden', userID: 'cam' },
    },
  },
);

const unshare = defineMutator(
  schemas['list.unshare'],
  async ({ tx, args, ctx }) => {
    await requireOwner(tx, args.listID, ctx.userID);
    await tx.query('delete from share where list_id = $1 and user_id = $2', [args.listID, args.userID]);
  },
  {
    summary: 'Stop sharing a list with a user',
    description:
      'That user no longer sees the list and its todos. Only the owner may do this. ' +
      'Nothing changes if it is not shared with them.',
    examples: { 'A list that is shared': { listID: 'ann-home', userID: 'ben' } },
  },
);

const fill = defineMutator(
  schemas['list.fill'],
  async ({ tx, args, ctx }) => {
    await requireOwner(tx, args.listID, ctx.userID);
    // The IDs share a unique prefix, and sort in the same order as the todos.
    const { rowCount } = await tx.query(
      `insert into todo (id, list_id, title, sort)
       select prefix || lpad(n::text, 6, '0'), $1, 'Todo ' || n, last + n
       from (select gen_random_uuid() || '-' as prefix) as fresh,
         (select coalesce(max(sort), 0) as last from todo where list_id = $1) as before,
         generate_series(1, $2::int) as n`,
      [args.listID, args.count],
    );
    return { added: rowCount! };
  },
  {
    summary: 'Add many todos to a list',
    description: 'They come after the existing ones. The server chooses their IDs. Only the owner may do this.',
    examples: {
      'A few todos': { listID: 'ann-work', count: 10 },
      'As many as one call may add': { listID: 'ann-work', count: 10_000 },
    },
    result: filled,
  },
);

/** The mutators of lists. */
export const list = { create, delete: remove, share, unshare, fill };
