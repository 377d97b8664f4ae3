/** The effects that mutators are expected to have. The page shows them until the server's result arrives. */
import type { ClientMutators } from '@tidemark/client';
import { isOpen, type Status } from '../../src/fields.js';
import type { mutators } from '../../src/mutators.js';
import type { Person, views } from '../../src/views.js';

type Optimistic = ClientMutators<typeof mutators, typeof views>;
type Tx = Parameters<NonNullable<NonNullable<Optimistic['issue']>['read']>>[0];

/** @param people those that the server has rendered, for the time before the view with them arrives */
export function optimistic(user: string, people: readonly Person[]): Optimistic {
  const personOf = async (tx: Tx, id: string) =>
    (await tx.view('person').get(id)) ?? people.find((person) => person.id === id);
  const assigneeOf = async (tx: Tx, id: string | null) => {
    const person = id === null ? undefined : await personOf(tx, id);
    return { assignee: person?.name ?? null, assigneeHue: person?.hue ?? null };
  };
  return {
    issue: {
      async create(tx, issue) {
        await tx.view('issue').set(issue.id, {
          ...issue,
          // The server numbers issues.
          number: 0,
          ...(await assigneeOf(tx, issue.assigneeID)),
          labels: [],
          comments: 0,
          unread: false,
        });
        await count(tx, issue.projectID, 1, isOpen(issue.status) ? 1 : 0);
      },
      async update(tx, { id, assigneeID, ...fields }) {
        const issue = await tx.view('issue').get(id);
        if (!issue) return;
        const assignee = assigneeID === undefined ? {} : { assigneeID, ...(await assigneeOf(tx, assigneeID)) };
        await tx.view('issue').update(id, { ...fields, ...assignee });
        const openBy = (status: Status) => (isOpen(status) ? 1 : 0);
        if (fields.status) await count(tx, issue.projectID, 0, openBy(fields.status) - openBy(issue.status));
      },
      read: (tx, { id }) => tx.view('issue').update(id, { unread: false }),
    },
    comment: {
      async create(tx, comment) {
        const author = await personOf(tx, user);
        await tx.view('comment').set(comment.id, { ...comment, author: author?.name ?? user, hue: author?.hue ?? 0 });
        const issue = await tx.view('issue').get(comment.issueID);
        if (issue) await tx.view('issue').update(issue.id, { comments: issue.comments + 1 });
      },
    },
  };
}

/** Adds to the numbers of a project's issues. */
async function count(tx: Tx, projectID: string, issues: number, open: number): Promise<void> {
  const project = await tx.view('project').get(projectID);
  if (!project) return;
  await tx.view('project').update(projectID, { issues: project.issues + issues, open: project.open + open });
}
