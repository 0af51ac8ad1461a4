import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { listEnum } from '../kit/every.ts';
import { Choose } from '../kit/filters.tsx';
import { campaignField, creatorField, type Field, Form } from '../kit/form.tsx';
import { percent } from '../kit/format.ts';

type Type = Row<'list_affiliate_links'>['type'];
export const TYPES = listEnum<Type>()(['link', 'discount_code']);
const TYPE_LABELS: Readonly<Record<Type, string>> = { link: 'A short link', discount_code: 'A discount code' };

/** The rate of new links, and what an empty field means. */
export function useRateField(): Field {
  const rate = useCall('get_brand').data?.data.settings.default_commission_rate;
  const empty = rate === undefined ? 'Empty: your brand’s default.' : `Empty: your brand’s default, ${percent(rate)}.`;
  return {
    name: 'commission_rate',
    label: 'Commission, in percent',
    kind: 'number',
    step: '0.0001',
    hint: rate === 0 ? `${empty} Without a rate here, it pays nothing.` : empty,
  };
}

const buildFields = (type: Type): Field[] => [
  {
    name: 'value',
    label: type === 'link' ? 'Name' : 'Code',
    isRequired: true,
    hint: type === 'link' ? 'The end of the link.' : 'What customers type at the checkout.',
  },
  ...(type === 'link'
    ? [{ name: 'destination_url', label: 'Destination', kind: 'url' as const, hint: 'A page of your store.' }]
    : []),
];

interface CreateProps {
  /** The creator and the campaign that the list is filtered by. */
  creator: string | undefined;
  campaign: string | undefined;
  isOpen: boolean;
  onClose: () => void;
  onMade: (id: string) => void;
}

/** A link or code for one creator. Its fields follow its type. */
export function CreateLink({ creator, campaign, isOpen, onClose, onMade }: CreateProps) {
  const [type, setType] = useState<Type>('link');
  const create = useChange('create_affiliate_link', ['list_affiliate_links']);
  const rateField = useRateField();
  return (
    <Dialog title="Create a link or code" isOpen={isOpen} onClose={onClose}>
      <Choose
        ofForm
        label="Type"
        value={type}
        options={TYPES.map((one) => [one, TYPE_LABELS[one]])}
        onChoose={setType}
      />
      <Form
        action="Create"
        onCancel={onClose}
        fields={[
          creatorField(creator),
          ...buildFields(type),
          campaignField(campaign),
          rateField,
          {
            name: 'pays_renewals',
            label: 'Also pays renewals of subscriptions',
            kind: 'checkbox',
            hint: 'Otherwise only the first order of a subscription pays.',
          },
        ]}
        onSubmit={async (values) => {
          const rate = values.someNumber('commission_rate');
          const { data } = await create.mutateAsync({
            body: {
              creator_email: values.text('creator_email'),
              campaign_id: values.orNull('campaign_id'),
              type,
              value: values.text('value'),
              destination_url: values.orNull('destination_url'),
              pays_renewals: values.isChecked('pays_renewals'),
              ...(rate === undefined ? {} : { commission_rate: rate }),
            },
          });
          onMade(data.id);
        }}
      />
    </Dialog>
  );
}
