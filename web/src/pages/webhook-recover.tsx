import { useChange } from '../call/use.ts';
import { FormDialog } from '../kit/form.tsx';
import { number } from '../kit/format.ts';
import { useSay } from '../kit/toast.tsx';
import { DAY_MS, toUtcDay } from '../kit/utc-day.ts';

/** Sends the events of a time again, for an endpoint that was down. */
export function RecoverDialog({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const recover = useChange('recover_webhook', ['list_webhook_deliveries', 'list_webhooks']);
  const say = useSay();
  return (
    <FormDialog
      title="Send missed events"
      hint="Sends every event that was not delivered, oldest first. Events are kept for 30 days."
      isOpen={id !== undefined}
      onClose={onClose}
      action="Send"
      fields={[
        {
          name: 'since',
          label: 'Since',
          kind: 'date',
          isRequired: true,
          value: toUtcDay(Date.now() - DAY_MS),
          hint: 'From the start of this day, UTC.',
        },
        { name: 'until', label: 'Until', kind: 'date', hint: 'To the end of this day, UTC. Leave blank for now.' },
      ]}
      onSubmit={async (values) => {
        const until = values.some('until');
        const { data } = await recover.mutateAsync({
          params: { id: id ?? '' },
          body: {
            since: `${values.text('since')}T00:00:00.000Z`,
            ...(until === undefined ? {} : { until: `${until}T23:59:59.999Z` }),
          },
        });
        say(`${number(data.queued)} ${data.queued === 1 ? 'delivery' : 'deliveries'} queued.`);
        onClose();
      }}
    />
  );
}
