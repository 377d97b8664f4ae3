import type { CSSProperties } from 'react';

interface AvatarProps {
  /** Undefined for nobody. */
  readonly name: string | null | undefined;
  readonly hue: number | null | undefined;
}

/** The initial of a person in their colour. */
export function Avatar({ name, hue }: AvatarProps) {
  if (!name) return <span className="avatar nobody" aria-hidden="true" />;
  const style = { '--hue': hue ?? 0 } as CSSProperties;
  return <span className="avatar" style={style} data-initial={name.slice(0, 1)} aria-hidden="true" />;
}
