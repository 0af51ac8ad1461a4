import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { Dialog } from '../kit/dialog.tsx';
import { number } from '../kit/format.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Button, Copy } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { useRateField } from './link-create.tsx';
import { useTermsChoice } from './terms-editor.tsx';

const TYPES = [
  ['discount_code', 'Discount codes'],
  ['link', 'Short links'],
] as const;

type CreatedCodes = Answer<'bulk_create_affiliate_codes'>['data'];

function Result({ of: { created, skipped, remaining }, onClose }: { of: CreatedCodes; onClose: () => void }) {
  const unknown = skipped.filter(({ reason }) => reason === 'no_email').length;
  return (
    <>
      <p>
        {number(created.length)} created.{' '}
        {unknown > 0 && `${number(unknown)} creators have no email address and got nothing. `}
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

function BulkForm({ onClose, onMade }: { onClose: () => void; onMade: (codes: CreatedCodes) => void }) {
  const rateField = useRateField();
  const { choice, own } = useTermsChoice('Deal', 'Your default, or a percentage');
  return (
    <>
      {choice}
      <OperationForm
        operation="bulk_create_affiliate_codes"
        action="Create"
        onCancel={onClose}
        fields={[
          { name: 'type', options: TYPES },
          { name: 'destination_url', hint: 'A page of your store. Only for links.' },
          ...(own ? [] : [rateField]),
          { name: 'campaign_id', hint: 'Then only creators who were accepted for it.' },
          {
            name: 'notify',
            label: 'Email creators right away',
            hint: 'Otherwise, a code is emailed with its first order.',
          },
        ]}
        omits={['creators', 'roster_ids', 'terms', ...(own ? (['commission_rate'] as const) : [])]}
        own={own}
        fixed={{ all_missing: true }}
        shown={['list_affiliate_links']}
        onDone={({ data }) => onMade(data)}
      />
    </>
  );
}

/** Gives a link or code to every creator who has none. */
export function BulkDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [createdCodes, setCreatedCodes] = useState<CreatedCodes>();
  const close = () => {
    setCreatedCodes(undefined);
    onClose();
  };
  return (
    <Dialog
      title="Links or codes for all creators"
      hint="Every creator on the roster who has none gets one, with a name of their own."
      isOpen={isOpen}
      onClose={close}
    >
      {createdCodes && <Result of={createdCodes} onClose={close} />}
      {isOpen && !createdCodes && <BulkForm onClose={close} onMade={setCreatedCodes} />}
    </Dialog>
  );
}
