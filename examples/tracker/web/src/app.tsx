import { useView } from '@tidemark/client/react';
import { useMemo, useState } from 'react';
import type { Project } from '../../src/views.js';
import type { FirstPage } from '../../src/web.js';
import { usePlace } from './address.js';
import { Help } from './dialogs/help.js';
import { NewIssue } from './dialogs/new-issue.js';
import { IssuePanel } from './issue/issue-panel.js';
import { arrange } from './list/arrange.js';
import { IssueList } from './list/issue-list.js';
import { ListHeader } from './list/list-header.js';
import { useIssues } from './list/use-issues.js';
import { useSelection } from './list/use-selection.js';
import { Sidebar } from './sidebar/sidebar.js';
import { useStore } from './store.js';
import { useShortcuts } from './use-shortcuts.js';

type Dialog = 'create' | 'help' | undefined;

export function App({ firstPage }: { firstPage: FirstPage }) {
  const { user, client } = useStore();
  const [place, go] = usePlace(user, firstPage);
  const [text, setText] = useState('');
  const [dialog, setDialog] = useState<Dialog>();
  const [hasDrawer, setHasDrawer] = useState(false);
  const { rows: projects } = useView(client, 'project', { initial: firstPage.projects });
  const { projectID } = place;
  const initial = projectID === firstPage.projectID ? firstPage.issues : undefined;
  const { issues, isReady } = useIssues(projectID, initial);
  const groups = useMemo(() => arrange(issues, text), [issues, text]);
  const isProject = ({ id }: Project) => id === projectID;
  const project = projects?.find(isProject) ?? firstPage.projects.find(isProject);
  const issue = issues.find(({ id }) => id === place.issueID);

  const openProject = (id: string) => {
    setText('');
    setHasDrawer(false);
    go({ projectID: id, issueID: undefined });
  };
  const openIssue = (issueID: string | undefined) => issueID !== place.issueID && go({ projectID, issueID });
  const selection = useSelection(groups, place.issueID);
  useShortcuts({
    move: (by) => {
      const moved = selection.move(by);
      // An open panel follows the selection.
      if (place.issueID && moved) openIssue(moved);
    },
    open: () => selection.selected && openIssue(selection.selected),
    close: () => {
      if (place.issueID) openIssue(undefined);
      else setText('');
    },
    create: () => project && setDialog('create'),
    search: () => document.getElementById('search')?.focus(),
    help: () => setDialog('help'),
    menu: (name) => document.querySelector<HTMLElement>(`.issue.selected [data-menu=${name}]`)?.click(),
  });

  return (
    <div className={`app${hasDrawer ? ' with-drawer' : ''}`}>
      <Sidebar
        projects={projects ?? []}
        current={projectID}
        onOpen={openProject}
        onHelp={() => setDialog('help')}
        onClose={() => setHasDrawer(false)}
      />
      <main>
        <ListHeader
          project={project}
          text={text}
          onText={setText}
          onCreate={() => setDialog('create')}
          onDrawer={() => setHasDrawer(true)}
        />
        <IssueList
          key={projectID}
          project={project}
          groups={groups}
          isReady={isReady}
          isMissing={projects !== undefined && !project}
          isSearch={text !== ''}
          selection={selection}
          opened={place.issueID}
          onOpen={openIssue}
          onCreate={() => setDialog('create')}
        />
      </main>
      {issue && project && (
        <IssuePanel
          key={issue.id}
          issue={issue}
          project={project}
          initial={issue.id === firstPage.issueID ? firstPage.comments : undefined}
          onClose={() => openIssue(undefined)}
        />
      )}
      {dialog === 'create' && project && <NewIssue project={project} onClose={() => setDialog(undefined)} />}
      {dialog === 'help' && <Help onClose={() => setDialog(undefined)} />}
    </div>
  );
}
