import { Link } from '@tanstack/react-router';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { day, money, number, percent } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, breakable, Copy, Facts, Stat, Stats } from '../kit/parts.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';
import { RotateCode } from './link-leaks.tsx';
import { TermsButton } from './terms-dialog.tsx';

type LinkItem = Answer<'get_affiliate_link'>['data'];

function EditLink({ item: link, isOpen, onClose }: Editing<LinkItem>) {
  const isLink = link.type === 'link';
  // A rate or a duration that these two fields cannot say has an editor of its own.
  const { rate, months, payments } = link.effective_terms;
  const isPercent = rate.percent !== undefined && months === null && payments === null;
  return (
    <OperationDialog
      operation="update_affiliate_link"
      title={`Edit ${link.value}`}
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: link.id }}
      item={link}
      fields={[
        {
          name: 'value',
          label: 'Name or code',
          hint: isLink && 'A new name creates a new short link. The old one keeps working.',
        },
        ...(isLink ? [{ name: 'destination_url', isRequired: true } as const, 'forward_parameters' as const] : []),
        ...(isPercent
          ? ([
              { name: 'commission_rate', hint: 'For new orders. Existing commissions keep their rate.' },
              'pays_renewals',
            ] as const)
          : []),
        'campaign_id',
        {
          name: 'notify',
          label: 'Email the creator now',
          hint: isLink
            ? 'If they were not told.'
            : 'If they were not told. Otherwise when your store or an order has the code.',
        },
      ]}
      omits={[
        ...(isPercent ? (['url', 'terms'] as const) : (['url', 'terms', 'commission_rate', 'pays_renewals'] as const)),
        ...(isLink ? [] : (['destination_url', 'forward_parameters'] as const)),
      ]}
      shown={['list_affiliate_links', 'get_affiliate_link']}
      onDone={onClose}
    />
  );
}

/** The place whose terms the link pays by. */
function TermsPlace({ of: { terms_source: source, type, campaign_id } }: { of: LinkItem }) {
  if (source === 'campaign') return <CampaignName id={campaign_id} />;
  if (source === 'group') return 'The creator’s group';
  if (source === 'brand') return 'The brand’s usual terms';
  return `Its own, set on this ${type === 'link' ? 'link' : 'code'}`;
}

function LinkTerms({ of: link }: { of: LinkItem }) {
  const { id, value: name, terms, effective_terms, terms_source: source, terms_summary: summary, budget } = link;
  const inEffect = { terms: effective_terms, source, summary };
  return <TermsButton of={{ place: 'link', id, name, terms, inEffect, budget }} />;
}

function Address({ of }: { of: string | null }) {
  if (of === null || !/^https?:/.test(of)) return of;
  return (
    <a href={of} target="_blank" rel="noreferrer">
      {breakable(of)}
    </a>
  );
}

/** One link or code, with what it brought. */
export function LinkPanel({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_affiliate_link', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  return (
    <Detail id={id} onClose={onClose} query={query} title={(link) => link?.value ?? 'Link or code'}>
      {(link) => (
        <>
          <div className="row">
            <Copy kind="primary" text={link.url ?? link.value} label={`Copy ${link.value}`} />
            <Editor item={link} needs="update_affiliate_link">
              {(editing) => <EditLink {...editing} />}
            </Editor>
            {link.type === 'discount_code' && <RotateCode of={link} />}
            <LinkTerms of={link} />
          </div>
          <Stats isBrief>
            {link.type === 'link' && <Stat label="Clicks" value={number(link.clicks)} />}
            <Stat label="Orders" value={number(link.conversions)} />
            <Stat label="Sales" value={money(link.revenue, link.currency)} />
            <Stat label="Commission" value={money(link.commission, link.currency)} />
          </Stats>
          <Facts
            of={[
              ['Status', <Badge key="state" state={link.active ? 'active' : 'off'} />],
              ['Type', link.type === 'link' ? 'Short link' : 'Discount code'],
              ['Creator', <CreatorName key="creator" of={link} />],
              ['Campaign', <CampaignName key="campaign" id={link.campaign_id} />],
              ...(link.type === 'link'
                ? ([
                    ['Short link', <Address key="url" of={link.url} />],
                    ['Leads to', <Address key="destination" of={link.destination_url} />],
                  ] as const)
                : []),
              ['Pays', link.terms_summary],
              ['Terms', <TermsPlace key="terms" of={link} />],
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
          <nav className="row" aria-label="More about it">
            {link.type === 'link' && (
              <Link to="/clicks" search={{ link_id: link.id }}>
                Clicks
              </Link>
            )}
            <Link to="/orders" search={{ link_id: link.id }}>
              Orders
            </Link>
            <Link to="/analytics" search={{ link: link.id }}>
              Analytics
            </Link>
          </nav>
        </>
      )}
    </Detail>
  );
}
