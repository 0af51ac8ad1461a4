import type { ReactNode } from 'react';

interface Checked {
  key: string;
  isDone: boolean;
  name: ReactNode;
  hint: ReactNode;
}

/** What is to do, and what of it is done. */
export function Checklist({ of }: { of: readonly Checked[] }) {
  return (
    <ul className="checklist">
      {of.map(({ key, isDone, name, hint }) => (
        <li key={key} className={isDone ? 'done' : undefined}>
          <span className="tick" aria-hidden>
            {isDone ? '✓' : ''}
          </span>
          <div>
            {name}
            {isDone && <span className="sr-only"> (done)</span>}
            <p className="hint">{hint}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}
