import type { ReactNode } from 'react';
import { WaveIcon } from './icons.js';

interface PageHeaderProps {
  readonly link: { readonly href: string; readonly text: string };
  readonly children?: ReactNode;
}

export function PageHeader({ link, children }: PageHeaderProps) {
  return (
    <header className="page-header">
      <h1 className="brand">
        <WaveIcon />
        Tasks
      </h1>
      {children}
      <a className="quiet page-link" href={link.href}>
        {link.text}
      </a>
    </header>
  );
}
