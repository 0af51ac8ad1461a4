import { type ReactNode, useState } from 'react';
import { useIsPhone } from './wide.ts';

/** On a phone, what would push a list out of sight is folded; it is drawn once it is opened, at its width. */
export function Folded({ summary, children }: { summary: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  if (!useIsPhone()) return children;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="small muted">{summary}</summary>
      {isOpen && children}
    </details>
  );
}
