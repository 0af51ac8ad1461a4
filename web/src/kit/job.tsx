import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { Confirm } from './dialog.tsx';
import { number } from './format.ts';
import { Failure, Loading } from './parts.tsx';

export type Job = Row<'list_jobs'>;

/** True if a call answered with the job that does its work. */
export const isJob = (answer: object): answer is Job => 'kind' in answer && 'progress' in answer;

const REFETCH_MS = 2_000;

export const isUnderWay = ({ status }: Pick<Job, 'status'>) => status === 'queued' || status === 'running';

/** A job, read again until it has ended. */
export const useJob = (id: string) =>
  useCall('get_job', { params: { id } }, { refetchMs: REFETCH_MS, until: ({ data }) => !isUnderWay(data) });

/** Shows the progress of a job, or the reason for its failure. */
export function JobProgress({ of, what = 'rows' }: { of: Job; what?: string }) {
  const { id, status, progress, rows, total_rows, error } = of;
  if (status === 'failed') return <span className="described">{error}</span>;
  if (status !== 'running') return <>{`${number(rows)} ${what}`}</>;
  return (
    <>
      <progress aria-label={`Progress of ${id}`} value={progress ?? undefined} max={1} />
      <span className="second">
        {number(rows)}
        {total_rows !== null && ` of ${number(total_rows)}`} {what}
      </span>
    </>
  );
}

/** Cancels a job that has not ended. */
export function CancelJob({ of: { id }, noun, children }: { of: Job; noun: string; children: string }) {
  const cancel = useChange('cancel_job', ['list_jobs', 'get_job']);
  return (
    <Confirm
      needs="cancel_job"
      label="Cancel"
      title={`Cancel this ${noun}?`}
      action={`Cancel the ${noun}`}
      onConfirm={() => cancel.mutateAsync({ params: { id } })}
    >
      <p>{children}</p>
    </Confirm>
  );
}

/** Follows a job, and shows what it found once it is done. */
export function FollowedJob({
  id,
  noun,
  what = 'orders',
  onCancel = 'What it has read so far is forgotten.',
  done,
}: {
  id: string;
  noun: string;
  /** The things that it counts. */
  what?: string;
  /** The consequence of a cancellation. */
  onCancel?: string;
  done: (job: Job) => ReactNode;
}) {
  const { data, error, refetch } = useJob(id);
  const cache = useQueryClient();
  // Until this job has loaded, `data` is the previous one.
  const job = data?.data.id === id ? data.data : undefined;
  const hasEnded = job !== undefined && !isUnderWay(job);
  useEffect(() => {
    if (hasEnded) void cache.invalidateQueries({ queryKey: ['list_jobs'] });
  }, [hasEnded, cache]);
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!job) return <Loading rows={2} />;
  if (job.status === 'done') return done(job);
  if (job.status === 'cancelled') return <p role="status">{`This ${noun} was cancelled.`}</p>;
  return (
    <div className="stack" aria-live="polite">
      <p role={job.status === 'failed' ? 'alert' : 'status'}>
        {job.status === 'queued' ? `The ${noun} starts in a moment.` : <JobProgress of={job} what={what} />}
      </p>
      {isUnderWay(job) && (
        <div>
          <CancelJob of={job} noun={noun}>
            {onCancel}
          </CancelJob>
        </div>
      )}
    </div>
  );
}
