import type { Project } from '../../../src/views.js';
import { MenuIcon, PlusIcon, SearchIcon } from '../parts/icons.js';
import { ProjectIcon } from '../parts/project-icon.js';

interface ListHeaderProps {
  readonly project: Project | undefined;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onCreate: () => void;
  readonly onDrawer: () => void;
}

export function ListHeader({ project, text, onText, onCreate, onDrawer }: ListHeaderProps) {
  return (
    <header className="list-header">
      <button type="button" className="icon-button drawer-button" aria-label="Projects" onClick={onDrawer}>
        <MenuIcon />
      </button>
      {project && (
        <h1>
          <ProjectIcon hue={project.hue} />
          <span className="team">{project.team}</span>
          <span className="project-name">{project.name}</span>
        </h1>
      )}
      <label className="search">
        <SearchIcon />
        <input
          id="search"
          type="search"
          aria-label="Search issues"
          placeholder="Search"
          value={text}
          onChange={({ target }) => onText(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onText('');
            if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur();
          }}
        />
        <kbd>/</kbd>
      </label>
      <button type="button" className="primary" disabled={!project} onClick={onCreate}>
        <PlusIcon />
        <span>New issue</span>
      </button>
    </header>
  );
}
