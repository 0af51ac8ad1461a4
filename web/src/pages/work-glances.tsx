import type { Row } from '../call/call.ts';
import { compact, day, money, number, percent, words } from '../kit/format.ts';
import { Glance } from '../kit/glance.tsx';
import { platformName, postName } from '../kit/platforms.ts';
import { payText } from './compensation.ts';
import { addressText, parcelState } from './parcel.ts';
import { useUnsigned } from './unsigned.ts';

/** Whose items a card shows. */
type Whose = { campaign_id: string } | { creator_email: string };

interface Props {
  of: Whose;
}

/** The creator of an item, where those of several are listed. */
const whoIn = (of: Whose, item: { creator_name: string | null; creator_email: string | null }) =>
  'campaign_id' in of ? (item.creator_name ?? item.creator_email) : null;

const joinParts = (...parts: readonly (string | null | undefined)[]) => parts.filter(Boolean).join(', ');
const dueText = (due: string | null) => due && `due ${day(due)}`;

export const ContractsGlance = ({ of }: Props) => (
  <Glance
    title="Contracts"
    id="list_contracts"
    to="/contracts"
    query={of}
    empty="No contracts yet."
    isOver={({ status }) => status === 'expired'}
    row={({ id, title, status, expired_reason, ...contract }) => ({
      key: id,
      name: title,
      second: whoIn(of, contract),
      value: payText(contract),
      state: expired_reason ?? status,
    })}
  />
);

export function DeliverablesGlance({ of }: Props) {
  const unsignedContracts = useUnsigned();
  return (
    <Glance
      title="Deliverables"
      id="list_deliverables"
      to="/deliverables"
      query={of}
      empty="No deliverables yet."
      isOver={({ status }) => status === 'declined' || status === 'cancelled'}
      row={({ id, type, platform, due_date, status, contract_id, ...item }) => ({
        key: id,
        name: words(type),
        state: (status === 'pending' && unsignedContracts.get(contract_id)) || status,
        second: joinParts(whoIn(of, item), platform && platformName(platform), dueText(due_date)),
      })}
    />
  );
}

export const LinksGlance = ({ of }: Props) => (
  <Glance
    title="Links and codes"
    id="list_affiliate_links"
    to="/links"
    query={of}
    empty={
      'campaign_id' in of ? 'No links or codes yet. Only sales made through them count here.' : 'No links or codes yet.'
    }
    isOver={({ active }) => !active}
    row={({ id, value, commission_rate, conversions, revenue, currency, active, ...item }) => ({
      key: id,
      name: value,
      value: money(revenue, currency),
      state: active ? 'active' : 'off',
      second: joinParts(
        whoIn(of, item),
        percent(commission_rate),
        `${number(conversions)} ${conversions === 1 ? 'order' : 'orders'}`,
      ),
    })}
  />
);

export const PostsGlance = ({ of }: Props) => (
  <Glance
    title="Posts"
    id="list_content"
    to="/content"
    query={of}
    empty="No tracked posts yet."
    row={({ platform, posted_at, tracked_at, metrics, ...post }) => ({
      key: post.id,
      name: 'campaign_id' in of ? postName(post) : words(post.type ?? 'post'),
      second: joinParts(platformName(platform), day(posted_at ?? tracked_at), post.caption),
      ...(metrics.views === null ? {} : { value: `${compact(metrics.views)} views` }),
    })}
  />
);

export const BriefsGlance = ({ of }: Props) => (
  <Glance
    title="Briefs"
    id="list_briefs"
    to="/briefs"
    query={of}
    empty="No briefs yet."
    isOver={({ status }) => status === 'completed'}
    row={({ id, title, due_date, status, ...item }) => ({
      key: id,
      name: title,
      second: joinParts(whoIn(of, item), dueText(due_date)),
      state: status,
    })}
  />
);

/** The parcel's content in words. */
const describeContent = ({ product_description, products }: Row<'list_shipments'>) =>
  product_description ?? (products?.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ') || 'Parcel');

export const ShipmentsGlance = ({ of }: Props) => (
  <Glance
    title={'campaign_id' in of ? 'Shipments' : 'Shipments and addresses'}
    id="list_shipments"
    to="/shipments"
    query={of}
    empty="No shipments yet."
    isOver={({ status }) => status === 'returned'}
    row={(parcel) => ({
      key: parcel.id,
      name: describeContent(parcel),
      state: parcelState(parcel),
      second: whoIn(of, parcel) ?? addressText(parcel),
    })}
  />
);
