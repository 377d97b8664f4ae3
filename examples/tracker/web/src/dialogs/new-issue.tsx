import { type FormEvent, type KeyboardEvent, useState } from 'react';
import type { Project } from '../../../src/views.js';
import { AssigneeMenu, type Fields, PriorityMenu, StatusMenu } from '../parts/field-menus.js';
import { ProjectIcon } from '../parts/project-icon.js';
import { newID, useStore } from '../store.js';
import { Dialog } from './dialog.js';

interface NewIssueProps {
  readonly project: Project;
  readonly onClose: () => void;
}

const firstFields: Fields = { status: 'todo', priority: 0, assigneeID: null, assignee: null, assigneeHue: null };

export function NewIssue({ project, onClose }: NewIssueProps) {
  const { client } = useStore();
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const [fields, setFields] = useState(firstFields);
  const menu = {
    issue: fields,
    isNamed: true,
    onChange: (change: Partial<Fields>) => setFields({ ...fields, ...change }),
  };
  const create = (event?: FormEvent) => {
    event?.preventDefault();
    if (title.trim() === '') return;
    const { status, priority, assigneeID } = fields;
    const written = { title: title.trim(), description: description.trim(), createdAt: new Date().toISOString() };
    client.mutate.issue.create({ id: newID(), projectID: project.id, ...written, status, priority, assigneeID });
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) create();
  };
  return (
    <Dialog label="New issue" onClose={onClose}>
      <form className="new-issue" onSubmit={create}>
        <p className="where">
          <ProjectIcon hue={project.hue} />
          {project.team} <span>›</span> {project.name} <span>›</span> New issue
        </p>
        <input
          className="new-title"
          aria-label="Title"
          placeholder="Issue title"
          maxLength={200}
          value={title}
          onChange={({ target }) => setTitle(target.value)}
        />
        <textarea
          aria-label="Description"
          placeholder="Add a description…"
          rows={4}
          maxLength={10_000}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="fields">
          <StatusMenu {...menu} />
          <PriorityMenu {...menu} />
          <AssigneeMenu {...menu} />
        </div>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={title.trim() === ''}>
            Create issue
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
