import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { time, words } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Card, Facts, Failure, Loading } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';

type Profile = Answer<'get_payment_profile'>['data'];

const SOURCES = { mail: 'Their email address', brand: 'Given by you', creator: 'Given by the creator' } as const;

function Change({ id, profile, onClose }: { id: string; profile: Profile; onClose: () => void }) {
  const say = useSay();
  const { method, wallet_email, legal_name, country, currency } = profile;
  return (
    <OperationDialog
      operation="set_payment_profile"
      title="Where this creator is paid"
      hint="If the creator has been paid before, a change takes 72 hours. The old address is told, and can stop or confirm it; until then nothing is paid."
      isOpen
      onClose={onClose}
      action="Save"
      params={{ id }}
      start={{ method, wallet_email, legal_name, country, currency }}
      fields={[
        {
          name: 'wallet_email',
          label: 'Payment address',
          hint: 'For PayPal or Wise. Leave empty to use the email address.',
        },
        'method',
        'legal_name',
        'country',
        'currency',
      ]}
      shown={['get_payment_profile', 'preview_payouts']}
      onDone={({ data }) => {
        say(data.state === 'waiting' ? 'The change waits, and the old address was told.' : 'Saved.');
        onClose();
      }}
    />
  );
}

/** The address at which a creator is paid, and a change that waits. */
export function PaymentProfile({ id, email }: { id: string; email: string | null }) {
  const [isOpen, setOpen] = useState(false);
  const { data, error, refetch } = useCall('get_payment_profile', { params: { id } });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={2} />;
  const profile = data.data;
  const { waiting } = profile;
  return (
    <Card title="Where they are paid">
      <Facts
        of={(
          [
            ['Method', profile.method && words(profile.method)],
            ['Address', profile.wallet_email ?? email ?? 'None yet'],
            ['Source', SOURCES[profile.source]],
            ['Name', profile.legal_name],
            ['Country', profile.country],
            ['Currency', profile.currency],
            ['Waiting', waiting && `${waiting.wallet_email ?? email ?? ''} from ${time(waiting.effective_at)}`],
          ] as const
        ).filter(([, value]) => value !== null)}
      />
      <Button needs="set_payment_profile" onPress={() => setOpen(true)}>
        Change
      </Button>
      {isOpen && <Change id={id} profile={profile} onClose={() => setOpen(false)} />}
    </Card>
  );
}
