import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { everyOf } from '../kit/every.ts';
import { CREATOR_FILTER, Filters, useFilters } from '../kit/filters.tsx';
import { FormDialog } from '../kit/form.tsx';
import { money, number, percent } from '../kit/format.ts';
import { Badge, Button, Copy, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';

const TYPES = everyOf<Row<'list_affiliate_links'>['type']>()(['link', 'discount_code']);
type LinkRow = Row<'list_affiliate_links'>;

export function Links() {
  const { get } = useFilters();
  const query = { creator_email: get('creator_email') };
  const list = useRows('list_affiliate_links', query);
  const create = useChange('create_affiliate_link', ['list_affiliate_links']);
  const update = useChange('update_affiliate_link', ['list_affiliate_links']);
  const [isMaking, setMaking] = useState(false);
  const actionsOf = ({ id, active, url, value }: LinkRow) => (
    <div className="row">
      {url && <Copy text={url} label={`Copy the address of ${value}`} />}
      {active ? (
        <Confirm
          needs="update_affiliate_link"
          label="Turn off"
          title={`Turn ${value} off?`}
          action="Turn off"
          onConfirm={() => update.mutateAsync({ params: { id }, body: { active: false } })}
        >
          <p>New orders are not attributed to it. Existing commissions stay.</p>
        </Confirm>
      ) : (
        <Button
          needs="update_affiliate_link"
          onPress={() => update.mutate({ params: { id }, body: { active: true } })}
          label={`Turn ${value} on`}
        >
          Turn on
        </Button>
      )}
    </div>
  );
  // A user who may not change links can only copy addresses, and a code has none.
  const hasActions = useMay()('update_affiliate_link') || list.rows.some(({ url }) => url);
  const columns: readonly Column<LinkRow>[] = [
    {
      head: 'Link or code',
      cell: (link) => (
        <>
          <strong>{link.value}</strong>
          {link.url && <span className="second">{link.url}</span>}
          <div className="narrow">
            <span className="second">{link.creator_name ?? link.creator_email}</span>
            {actionsOf(link)}
          </div>
        </>
      ),
    },
    { head: 'Creator', cell: ({ creator_name, creator_email }) => creator_name ?? creator_email ?? '–', isWide: true },
    { head: 'Rate', cell: ({ commission_rate }) => percent(commission_rate), isNumber: true, isWide: true },
    { head: 'Clicks', cell: ({ clicks }) => number(clicks), isNumber: true, isWide: true },
    { head: 'Orders', cell: ({ conversions }) => number(conversions), isNumber: true },
    { head: 'Sales', cell: ({ revenue, currency }) => money(revenue, currency), isNumber: true },
    { head: 'Status', cell: ({ active }) => <Badge state={active ? 'active' : 'off'} />, isWide: true },
    ...(hasActions ? [{ head: 'Actions', cell: actionsOf, isWide: true }] : []),
  ];
  return (
    <>
      <PageHead title="Links and codes" hint="What creators share. Orders made through them earn a commission.">
        <Download id="list_affiliate_links" query={query} name="links.csv" />
        <Button needs="create_affiliate_link" kind="primary" onPress={() => setMaking(true)}>
          Create a link or code
        </Button>
      </PageHead>
      <Filters of={[CREATOR_FILTER]} />
      <Table
        caption="Links and codes"
        list={list}
        columns={columns}
        empty={<Empty title="No links yet">Create one for a creator on your roster.</Empty>}
      />
      <FormDialog
        title="Create a link or code"
        isOpen={isMaking}
        onClose={() => setMaking(false)}
        action="Create"
        fields={[
          { name: 'creator_email', label: 'Creator’s e-mail', kind: 'email', isRequired: true },
          {
            name: 'type',
            label: 'Type',
            kind: 'select',
            isRequired: true,
            options: [
              ['link', 'A short link'],
              ['discount_code', 'A discount code'],
            ],
          },
          {
            name: 'value',
            label: 'Name or code',
            isRequired: true,
            hint: 'The end of the link, or the code that customers type.',
          },
          { name: 'destination_url', label: 'Destination', kind: 'url', hint: 'A page of your store. Only for links.' },
          { name: 'commission_rate', label: 'Commission, in percent', kind: 'number', step: '0.0001' },
          {
            name: 'pays_renewals',
            label: 'Also pays renewals of subscriptions',
            kind: 'checkbox',
            hint: 'Otherwise only the first order of a subscription pays.',
          },
        ]}
        onSubmit={async (values) => {
          const rate = values.someNumber('commission_rate');
          await create.mutateAsync({
            body: {
              creator_email: values.text('creator_email'),
              type: values.choice('type', TYPES),
              value: values.text('value'),
              destination_url: values.orNull('destination_url'),
              pays_renewals: values.isChecked('pays_renewals'),
              ...(rate === undefined ? {} : { commission_rate: rate }),
            },
          });
          setMaking(false);
        }}
      />
    </>
  );
}
