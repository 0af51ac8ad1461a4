import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { campaignField, Form } from '../kit/form.tsx';
import { number } from '../kit/format.ts';
import { Button, Copy } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { useRateField } from './link-create.tsx';

type Made = Answer<'bulk_create_affiliate_codes'>['data'];
const TYPES = ['discount_code', 'link'] as const;

function Result({ of: { created, skipped, remaining }, onClose }: { of: Made; onClose: () => void }) {
  const unknown = skipped.filter(({ reason }) => reason === 'no_email').length;
  return (
    <>
      <p>
        {number(created.length)} created.{' '}
        {unknown > 0 && `${number(unknown)} creators have no e-mail address and got nothing. `}
        {remaining > 0 && `${number(remaining)} creators are left: create again.`}
      </p>
      {created.some(({ url }) => url === null) && (
        <p className="note-box">Add these codes to your store before customers can use them.</p>
      )}
      <div className="scroll">
        <PlainTable
          caption="Created links and codes"
          rows={created}
          getKey={({ id }) => id}
          columns={[
            { head: 'Creator', cell: ({ creator_name, creator_email }) => creator_name ?? creator_email },
            { head: 'Link or code', cell: ({ url, value }) => url ?? value },
          ]}
        />
      </div>
      <div className="popup-foot">
        <Copy text={created.map(({ url, value }) => url ?? value).join('\n')} label="Copy all" />
        <Button kind="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </>
  );
}

/** Gives a link or code to every creator who has none. */
export function BulkDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const create = useChange('bulk_create_affiliate_codes', ['list_affiliate_links']);
  const [made, setMade] = useState<Made>();
  const rateField = useRateField();
  const close = () => {
    setMade(undefined);
    onClose();
  };
  return (
    <Dialog
      title="Links or codes for all creators"
      hint="Every creator on the roster who has none gets one, with a name of their own."
      isOpen={isOpen}
      onClose={close}
    >
      {made ? (
        <Result of={made} onClose={close} />
      ) : (
        <Form
          action="Create"
          onCancel={close}
          needs="bulk_create_affiliate_codes"
          fields={[
            {
              name: 'type',
              label: 'Type',
              kind: 'select',
              isRequired: true,
              options: [
                ['discount_code', 'Discount codes'],
                ['link', 'Short links'],
              ],
            },
            {
              name: 'destination_url',
              label: 'Destination',
              kind: 'url',
              hint: 'A page of your store. Only for links.',
            },
            rateField,
            { ...campaignField(), hint: 'Then only creators who were accepted for it.' },
            {
              name: 'notify',
              label: 'Mail creators at once',
              kind: 'checkbox',
              hint: 'Codes work once they are in your store.',
            },
          ]}
          onSubmit={async (values) => {
            const rate = values.someNumber('commission_rate');
            const { data } = await create.mutateAsync({
              body: {
                all_missing: true,
                type: values.choice('type', TYPES),
                destination_url: values.orNull('destination_url'),
                campaign_id: values.orNull('campaign_id'),
                notify: values.isChecked('notify'),
                ...(rate === undefined ? {} : { commission_rate: rate }),
              },
            });
            setMade(data);
          }}
        />
      )}
    </Dialog>
  );
}
