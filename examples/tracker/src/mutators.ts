import type { ClientBase } from 'pg';
import { defineMutator, defineMutators, MutatorError } from 'tidemark';
import { z } from 'zod';
import { priorities, statuses } from './fields.js';

const id = z.string().min(1).max(100);
const title = z.string().trim().min(1).max(200);
const text = z.string().max(10_000);
const status = z.enum(statuses);
const priority = z.literal(priorities);
const assigneeID = id.nullable();
/** Shown until the server's time arrives, which is the one that counts. */
const createdAt = z.iso.datetime();

/** @throws MutatorError 404 unless the user is a member of the issue's project */
async function requireIssue(tx: ClientBase, issueID: string, userID: string): Promise<void> {
  const { rowCount } = await tx.query(
    'select from issue join member using (project_id) where issue.id = $1 and person_id = $2',
    [issueID, userID],
  );
  if (rowCount === 0) throw new MutatorError('There is no such issue', { status: 404 });
}

const create = defineMutator(
  z.object({ id, projectID: id, title, description: text, status, priority, assigneeID, createdAt }),
  async ({ tx, args, ctx }) => {
    const { rows } = await tx.query<{ last: number }>(
      `update issue_number set last = last + 1
       where key = (select key from project join member on project_id = id where id = $1 and person_id = $2)
       returning last`,
      [args.projectID, ctx.userID],
    );
    if (!rows[0]) throw new MutatorError('There is no such project', { status: 404 });
    await tx.query(
      `insert into issue (id, project_id, number, title, description, status, priority, assignee_id, creator_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        args.id,
        args.projectID,
        rows[0].last,
        args.title,
        args.description,
        args.status,
        args.priority,
        args.assigneeID,
        ctx.userID,
      ],
    );
  },
);

const update = defineMutator(
  z.object({
    id,
    status: status.optional(),
    priority: priority.optional(),
    assigneeID: assigneeID.optional(),
  }),
  async ({ tx, args, ctx }) => {
    await requireIssue(tx, args.id, ctx.userID);
    await tx.query(
      `update issue set status = coalesce($2, status), priority = coalesce($3, priority),
         assignee_id = case when $4 then $5 else assignee_id end
       where id = $1`,
      [args.id, args.status, args.priority, args.assigneeID !== undefined, args.assigneeID],
    );
  },
);

const read = defineMutator(z.object({ id }), async ({ tx, args, ctx }) => {
  await requireIssue(tx, args.id, ctx.userID);
  await tx.query(
    `insert into seen (issue_id, person_id) values ($1, $2)
     on conflict (issue_id, person_id) do update set at = excluded.at`,
    [args.id, ctx.userID],
  );
});

const comment = defineMutator(
  z.object({ id, issueID: id, body: text.trim().min(1), createdAt }),
  async ({ tx, args, ctx }) => {
    await requireIssue(tx, args.issueID, ctx.userID);
    const insert = 'insert into comment (id, issue_id, author_id, body) values ($1, $2, $3, $4)';
    await tx.query(insert, [args.id, args.issueID, ctx.userID, args.body]);
  },
);

export const mutators = defineMutators({ issue: { create, update, read }, comment: { create: comment } });
