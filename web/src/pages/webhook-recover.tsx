import { number } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { useSay } from '../kit/toast.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';

/** Sends the events of a time again, for an endpoint that was down. */
export function RecoverDialog({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const say = useSay();
  return (
    <OperationDialog
      operation="recover_webhook"
      title="Send missed events"
      hint="Sends every event that was not delivered, oldest first. Events are kept for 30 days."
      isOpen={id !== undefined}
      onClose={onClose}
      action="Send"
      params={{ id: id ?? '' }}
      start={{ since: toUtcDay(Date.now() - DAY_MS) }}
      fields={[
        { name: 'since', hint: 'From the start of this day, UTC.' },
        { name: 'until', hint: 'To the end of this day, UTC. Leave blank for now.', isLastDay: true },
      ]}
      shown={['list_webhook_deliveries', 'list_webhooks']}
      onDone={({ data }) => {
        say(`${number(data.queued)} ${data.queued === 1 ? 'delivery' : 'deliveries'} queued.`);
        onClose();
      }}
    />
  );
}
