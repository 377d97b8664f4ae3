/** Icons in the colour of the surrounding text. */
import type { ReactNode } from 'react';

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export const PlusIcon = () => (
  <Icon>
    <path d="M8 3.5v9M3.5 8h9" />
  </Icon>
);
export const SearchIcon = () => (
  <Icon>
    <circle cx="7" cy="7" r="4.25" />
    <path d="m10.2 10.2 3.3 3.3" />
  </Icon>
);
export const MenuIcon = () => (
  <Icon>
    <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />
  </Icon>
);
export const CrossIcon = () => (
  <Icon>
    <path d="m4 4 8 8M12 4l-8 8" />
  </Icon>
);
export const CheckIcon = () => (
  <Icon>
    <path d="m3 8.5 3.2 3.2L13 5" />
  </Icon>
);
export const CommentIcon = () => (
  <Icon>
    <path d="M13.5 7.6a5 5 0 0 1-5.2 4.9q-1.2 0-2.3-.5l-3 .8.9-2.6a4.6 4.6 0 0 1-1-2.6 5.2 5.2 0 0 1 10.6 0Z" />
  </Icon>
);
export const SunIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="2.75" />
    <path d="M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9" />
  </Icon>
);
export const MoonIcon = () => (
  <Icon>
    <path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8Z" />
  </Icon>
);
export const CloudIcon = ({ isOff }: { isOff: boolean }) => (
  <Icon>
    <path d="M4.6 12.5a3 3 0 0 1-.3-6A3.9 3.9 0 0 1 11.8 6a3.3 3.3 0 0 1-.4 6.5Z" />
    {isOff && <path d="m2.5 2.5 11 11" />}
  </Icon>
);
export const QuestionIcon = () => (
  <Icon>
    <path d="M5.6 6a2.4 2.4 0 1 1 3.5 2.1c-.8.4-1.1.8-1.1 1.6" />
    <path d="M8 12.2v.1" />
  </Icon>
);

export const EmptyPicture = () => (
  <svg className="empty-picture" viewBox="0 0 120 84" aria-hidden="true" focusable="false">
    {[0, 1, 2].map((row) => (
      <g key={row} transform={`translate(${row * 7} ${row * 22})`} opacity={1 - row * 0.28}>
        <rect x="8" y="8" width="90" height="18" rx="5" />
        <circle cx="19" cy="17" r="3.5" />
        <path d={`M29 17h${46 - row * 10}M84 17h6`} />
      </g>
    ))}
  </svg>
);
