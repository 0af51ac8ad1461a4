import { Time } from './time.tsx';

export interface Step {
  name: string;
  at: string | null;
  isDone: boolean;
  /** In place of the time of what is to come. */
  note?: string | null;
  isBad?: boolean;
}

/** The way of an item from step to step: those that are done, with their times, and those to come. */
export function Steps({ of }: { of: readonly Step[] }) {
  return (
    <ol className="steps">
      {of.map(({ name, at, isDone, note, isBad }) => (
        <li key={name} className={isBad ? 'bad' : isDone ? 'done' : undefined}>
          <span>
            {name}
            {!isDone && <span className="sr-only"> (to come)</span>}
          </span>
          <span className="second">{at ? <Time at={at} /> : !isDone && note}</span>
        </li>
      ))}
    </ol>
  );
}
