/**
 * Small icons in the colour of the surrounding text. The words beside them, or the names of their buttons, state their
 * meaning.
 */
import type { ReactNode } from 'react';

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export const WaveIcon = () => (
  <Icon>
    <path d="M1.5 6.2c2.2 0 2.2-2 4.4-2s2.1 2 4.3 2 2.1-2 4.3-2" />
    <path d="M1.5 11.6c2.2 0 2.2-2 4.4-2s2.1 2 4.3 2 2.1-2 4.3-2" />
  </Icon>
);

export const PlusIcon = () => (
  <Icon>
    <path d="M8 3v10M3 8h10" />
  </Icon>
);

export const CrossIcon = () => (
  <Icon>
    <path d="m4 4 8 8M12 4l-8 8" />
  </Icon>
);

export const PeopleIcon = () => (
  <Icon>
    <circle cx="6" cy="5.2" r="2.4" />
    <path d="M1.6 13c.3-2.6 2-4 4.4-4s4.1 1.4 4.4 4M10.7 3.1a2.3 2.3 0 0 1 0 4.3M12 9.3c1.4.6 2.2 1.8 2.4 3.7" />
  </Icon>
);
