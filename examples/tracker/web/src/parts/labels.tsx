import type { CSSProperties } from 'react';
import type { Label } from '../../../src/views.js';

export function Labels({ labels }: { labels: readonly Label[] }) {
  return (
    <span className="labels">
      {labels.map(({ name, hue }) => (
        <span key={name} className="label" style={{ '--hue': hue } as CSSProperties}>
          {name}
        </span>
      ))}
    </span>
  );
}
