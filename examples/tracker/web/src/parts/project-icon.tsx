import type { CSSProperties } from 'react';

export function ProjectIcon({ hue }: { hue: number }) {
  const style = { '--hue': hue } as CSSProperties;
  return (
    <svg className="project-icon" style={style} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d="M8 1.6 13.6 4.8v6.4L8 14.4 2.4 11.2V4.8Z" />
      <path d="M2.4 4.8 8 8l5.6-3.2M8 8v6.4" />
    </svg>
  );
}
