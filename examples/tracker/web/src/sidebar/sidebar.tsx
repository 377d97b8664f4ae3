import { useMemo, useState } from 'react';
import type { Project } from '../../../src/views.js';
import { Avatar } from '../parts/avatar.js';
import { SearchIcon } from '../parts/icons.js';
import { ProjectIcon } from '../parts/project-icon.js';
import { usePeople } from '../parts/use-people.js';
import { useStore } from '../store.js';
import { ProjectLink } from './project-link.js';
import { SyncState } from './sync-state.js';

interface SidebarProps {
  readonly projects: readonly Project[];
  /** The ID of the opened project. */
  readonly current: string | undefined;
  readonly onOpen: (id: string) => void;
  readonly onHelp: () => void;
  /** Called to close it where it covers the list. */
  readonly onClose: () => void;
}

export function Sidebar({ projects, current, onOpen, onHelp, onClose }: SidebarProps) {
  const { user } = useStore();
  const [text, setText] = useState('');
  const me = usePeople().find(({ id }) => id === user);
  const teams = useMemo(() => byTeam(projects, text), [projects, text]);
  const name = me?.name ?? user.slice(0, 1).toUpperCase() + user.slice(1);
  return (
    <>
      <aside className="sidebar">
        <div className="account">
          <Avatar name={name} hue={me?.hue} />
          <strong>{name}’s workspace</strong>
        </div>
        <label className="search">
          <SearchIcon />
          <input
            type="search"
            aria-label="Find a project"
            placeholder={`Find in ${projects.length} projects`}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        <nav aria-label="Projects">
          {teams.map(([team, ofTeam]) => (
            <section key={team}>
              <h2>
                <ProjectIcon hue={ofTeam[0]!.hue} />
                {team}
              </h2>
              <ul>
                {ofTeam.map((project) => (
                  <ProjectLink key={project.id} project={project} isCurrent={project.id === current} onOpen={onOpen} />
                ))}
              </ul>
            </section>
          ))}
          {teams.length === 0 && <p className="none">No such project</p>}
        </nav>
        <SyncState projects={projects} onHelp={onHelp} />
      </aside>
      <button type="button" className="backdrop" aria-label="Close" onClick={onClose} />
    </>
  );
}

/** Returns the projects whose name contains the text, by team, in the order of their names. */
function byTeam(projects: readonly Project[], text: string): [team: string, projects: Project[]][] {
  const wanted = text.trim().toLowerCase();
  const teams = new Map<string, Project[]>();
  for (const project of projects) {
    if (!`${project.team} ${project.name}`.toLowerCase().includes(wanted)) continue;
    teams.set(project.team, [...(teams.get(project.team) ?? []), project]);
  }
  return [...teams];
}
