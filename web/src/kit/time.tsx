import { ago, day, daysUntil, isPastDeadline, time, utcTime } from './format.ts';

interface TimeProps {
  at: string | null | undefined;
}

/** A time in the brand's time zone, and in UTC where the pointer rests on it. */
export function Time({ at }: TimeProps) {
  if (!at) return '–';
  return (
    <time dateTime={at} title={utcTime(at)}>
      {time(at)}
    </time>
  );
}

/** A time with UTC beside it. */
export function BothTimes({ at }: TimeProps) {
  if (!at) return '–';
  const utc = utcTime(at);
  return (
    <time dateTime={at}>
      {time(at)}
      {utc && <span className="second">{utc}</span>}
    </time>
  );
}

/** The time since a moment; the moment itself is the tooltip. */
export function Ago({ at }: TimeProps) {
  if (!at) return '–';
  return (
    <time dateTime={at} title={[time(at), utcTime(at)].filter(Boolean).join(', ')}>
      {ago(at)}
    </time>
  );
}

const NEAR = ['Today', 'Tomorrow'];

/** The mark of a day that has passed, or is near. */
function DueMark({ at }: { at: string }) {
  if (isPastDeadline(at)) return <span className="badge bad">Overdue</span>;
  const near = NEAR[daysUntil(at)];
  return near && <span className="badge wait">{near}</span>;
}

/** The day that something is due, and whether it is late, today or tomorrow; what is done is never marked. */
export function Due({ at, isDone }: TimeProps & { isDone: boolean }) {
  return (
    <>
      {day(at)} {!isDone && at && <DueMark at={at} />}
    </>
  );
}
