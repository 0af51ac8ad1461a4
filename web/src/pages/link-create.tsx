import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Choose } from '../kit/filters.tsx';
import { percent } from '../kit/format.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { useTermsChoice } from './terms-editor.tsx';

type Type = Row<'list_affiliate_links'>['type'];
export const TYPES = listChoices('list_affiliate_links', 'type');
const TYPE_LABELS: Readonly<Record<Type, string>> = { link: 'A short link', discount_code: 'A discount code' };

/** The rate of new links, and what an empty field means. It has to be given if nothing else could pay. */
export function useRateField() {
  const rate = useCall('get_brand').data?.data.settings.default_commission_rate;
  const groups = useCall('list_groups', { query: { limit: 100 } }).data?.data ?? [];
  const isNeeded = rate === 0 && !groups.some(({ terms }) => terms !== null);
  return {
    name: 'commission_rate',
    hint: `Leave empty to use the campaign’s, the group’s or your default${rate === undefined ? '' : ` (${percent(rate)})`}.`,
    follows: (valueAt: (path: string) => string) =>
      isNeeded && valueAt('campaign_id') === ''
        ? { isRequired: true, hint: 'Your default is 0%, so without a rate it would pay nothing.' }
        : {},
  } as const;
}

const FIELDS = {
  link: [
    { name: 'value', label: 'Name', kind: 'text', prefix: '…/r/', hint: 'Such as anna-spring.' },
    { name: 'destination_url', hint: 'A page of your store.' },
  ],
  discount_code: [{ name: 'value', label: 'Code', kind: 'text', hint: 'What customers type at the checkout.' }],
} as const;

const NOTIFY_FIELD = {
  name: 'notify',
  label: 'Email the creator right away',
  hint: 'Otherwise when your store or an order has the code.',
} as const;

interface CreateProps {
  /** The creator and the campaign that the list is filtered by. */
  creator: string | undefined;
  campaign: string | undefined;
  isOpen: boolean;
  onClose: () => void;
  onMade: (id: string) => void;
}

const RATE_OR_TERMS = ['commission_rate', 'pays_renewals', 'terms'] as const;

/** The form is made anew each time it opens, and begins with the usual way to pay. */
function CreateForm({ creator, campaign, onClose, onMade }: Omit<CreateProps, 'isOpen'>) {
  const [type, setType] = useState<Type>('link');
  const rateField = useRateField();
  const { choice, own } = useTermsChoice('Deal', 'Your default, or a percentage');
  return (
    <>
      <Choose
        ofForm
        label="Type"
        value={type}
        options={TYPES.map((one) => [one, TYPE_LABELS[one]])}
        onChoose={setType}
      />
      {choice}
      <OperationForm
        operation="create_affiliate_link"
        action="Create"
        onCancel={onClose}
        start={{ creator_email: creator, campaign_id: campaign }}
        fields={[
          'creator_email',
          ...FIELDS[type],
          'campaign_id',
          ...(own
            ? []
            : ([
                rateField,
                { name: 'pays_renewals', hint: 'Otherwise only the first order of a subscription pays.' },
              ] as const)),
          ...(type === 'link' ? [] : [NOTIFY_FIELD]),
        ]}
        omits={[
          ...(own ? RATE_OR_TERMS : (['terms'] as const)),
          ...(type === 'link' ? (['notify'] as const) : (['destination_url', 'forward_parameters'] as const)),
        ]}
        own={own}
        fixed={{ type }}
        shown={['list_affiliate_links']}
        onDone={({ data }) => onMade(data.id)}
      />
    </>
  );
}

/** A link or code for one creator. Its fields follow its type. */
export function CreateLink({ isOpen, ...props }: CreateProps) {
  return (
    <Dialog title="Create a link or code" isOpen={isOpen} onClose={props.onClose}>
      {isOpen && <CreateForm {...props} />}
    </Dialog>
  );
}
