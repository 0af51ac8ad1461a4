import { Link } from '@tanstack/react-router';
import type { Answer } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { changed, isEmpty } from '../kit/changed.ts';
import { Detail } from '../kit/detail.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { campaignField, type Field, FormDialog, type Values } from '../kit/form.tsx';
import { day, money, number, percent } from '../kit/format.ts';
import { Badge, Copy, Facts } from '../kit/parts.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';
import { RotateCode } from './link-leaks.tsx';

type LinkItem = Answer<'get_affiliate_link'>['data'];

const buildFields = (link: LinkItem): Field[] => [
  {
    name: 'value',
    label: 'Name or code',
    isRequired: true,
    value: link.value,
    ...(link.type === 'link' ? { hint: 'A new name creates a new short link. The old one keeps working.' } : {}),
  },
  ...(link.type === 'link'
    ? [
        {
          name: 'destination_url',
          label: 'Destination',
          kind: 'url' as const,
          isRequired: true,
          value: link.destination_url,
        },
      ]
    : []),
  {
    name: 'commission_rate',
    label: 'Commission, in percent',
    kind: 'number',
    step: '0.0001',
    isRequired: true,
    value: link.commission_rate,
    hint: 'For new orders. Existing commissions keep their rate.',
  },
  campaignField(link.campaign_id),
  {
    name: 'pays_renewals',
    label: 'Also pays renewals of subscriptions',
    kind: 'checkbox',
    value: link.pays_renewals,
  },
];

const changeIn = (values: Values, link: LinkItem) =>
  changed(
    {
      value: values.text('value'),
      destination_url: link.type === 'link' ? values.text('destination_url') : link.destination_url,
      commission_rate: values.number('commission_rate'),
      campaign_id: values.orNull('campaign_id'),
      pays_renewals: values.isChecked('pays_renewals'),
    },
    link,
  );

function EditLink({ item: link, isOpen, onClose }: Editing<LinkItem>) {
  const update = useChange('update_affiliate_link', ['list_affiliate_links', 'get_affiliate_link']);
  return (
    <FormDialog
      title={`Edit ${link.value}`}
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      fields={buildFields(link)}
      onSubmit={async (values) => {
        const body = changeIn(values, link);
        if (!isEmpty(body)) await update.mutateAsync({ params: { id: link.id }, body });
        onClose();
      }}
    />
  );
}

/** One link or code, with what it brought. */
export function LinkPanel({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const found = useCall('get_affiliate_link', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  return (
    <Detail id={id} onClose={onClose} found={found} title={(link) => link?.value ?? 'Link or code'}>
      {(link) => (
        <>
          <Facts
            of={[
              ['Status', <Badge key="state" state={link.active ? 'active' : 'off'} />],
              ['Type', link.type === 'link' ? 'Short link' : 'Discount code'],
              ['Creator', <CreatorName key="creator" of={link} />],
              ['Campaign', <CampaignName key="campaign" id={link.campaign_id} />],
              ...(link.type === 'link'
                ? ([
                    ['Short link', link.url],
                    ['Leads to', link.destination_url],
                  ] as const)
                : []),
              ['Commission', percent(link.commission_rate)],
              ['Renewals', link.pays_renewals ? 'Paid' : 'Not paid'],
              ['Clicks', number(link.clicks)],
              ['Orders', number(link.conversions)],
              ['Sales', money(link.revenue, link.currency)],
              ['Earned', money(link.commission, link.currency)],
              ...link.by_currency.map(
                ({ currency, revenue }) => [`Sales in ${currency}`, money(revenue, currency)] as const,
              ),
              ...(link.discount_percent === null
                ? []
                : ([['Customers save', percent(link.discount_percent)]] as const)),
              ...(link.expires_at === null ? [] : ([['Ends', day(link.expires_at)]] as const)),
              ['Created', day(link.created_at)],
            ]}
          />
          <div className="row">
            <Editor item={link} needs="update_affiliate_link" kind="primary">
              {(editing) => <EditLink {...editing} />}
            </Editor>
            {link.type === 'discount_code' && <RotateCode of={link} />}
            <Copy text={link.url ?? link.value} label={`Copy ${link.value}`} />
            {link.type === 'link' && (
              <Link to="/clicks" search={{ link_id: link.id }} className="button plain">
                Clicks
              </Link>
            )}
            <Link to="/orders" search={{ link_id: link.id }} className="button plain">
              Orders
            </Link>
            <Link to="/analytics" search={{ link: link.id }} className="button plain">
              Analytics
            </Link>
          </div>
        </>
      )}
    </Detail>
  );
}
