import type { Answer, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { day, words } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Button, Facts } from '../kit/parts.tsx';
import { type Column, Opener } from '../kit/table.tsx';
import { Due, Time } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';
import { useWorkQuery, WorkPage } from '../kit/work.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';
import { addressText, parcelState } from './parcel.ts';
import { ShareDialog } from './shipment-share.tsx';

const STATES = listChoices('list_shipments', 'status');
type Shipment = Row<'list_shipments'>;

/** The API keeps carriers in lower case; most are initials. */
const carrierName = (carrier: string | null) =>
  carrier === 'fedex' ? 'FedEx' : carrier && (carrier.length <= 4 ? carrier.toUpperCase() : words(carrier));

const TRACKING: Readonly<Record<string, string>> = {
  dhl: 'https://www.dhl.com/global-en/home/tracking.html?tracking-id=',
  fedex: 'https://www.fedex.com/fedextrack/?trknbr=',
  ups: 'https://www.ups.com/track?tracknum=',
  usps: 'https://tools.usps.com/go/TrackConfirmAction?tLabels=',
};

/** Carrier and number, which lead to the page of a carrier that is known. */
function Tracked({ of: { carrier, tracking_number: tracked } }: { of: Pick<Shipment, 'carrier' | 'tracking_number'> }) {
  const text = [carrierName(carrier), tracked].filter(Boolean).join(' ') || '–';
  const page = TRACKING[carrier ?? ''];
  if (page === undefined || tracked === null) return text;
  return (
    <a href={`${page}${encodeURIComponent(tracked)}`} target="_blank" rel="noreferrer">
      {text}
    </a>
  );
}

/** The day that a parcel arrived, or the day that it is expected and whether it is late. */
function Arrival({ of: { estimated_arrival, delivered_at, status } }: { of: Shipment }) {
  if (status === 'delivered' && delivered_at) return `Delivered ${day(delivered_at)}`;
  if (estimated_arrival === null || status === 'delivered' || status === 'returned') return '–';
  return (
    <span className="nowrap">
      Expected <Due at={estimated_arrival} late="Late" isDone={false} />
    </span>
  );
}

function EditShipment({ item: parcel, isOpen, onClose }: Editing<Answer<'get_shipment'>['data']>) {
  return (
    <OperationDialog
      operation="update_shipment"
      title="Edit the shipment"
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: parcel.id }}
      item={{ ...parcel, status: parcelState(parcel), carrier: carrierName(parcel.carrier) }}
      fields={['status', 'carrier', 'tracking_number', 'estimated_arrival']}
      shown={['list_shipments', 'get_shipment']}
      onDone={onClose}
    />
  );
}

const NOTIFIED: Readonly<Record<Answer<'notify_shipment_creator'>['data']['mail'], string>> = {
  queued: 'The creator is being notified.',
  suppressed: 'The creator does not accept your emails.',
  already_sent: 'The creator has already been notified.',
};

function Parcel({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_shipment', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const notify = useChange('notify_shipment_creator', ['get_shipment']);
  const say = useSay();
  const notifyCreator = () =>
    notify.mutateAsync({ params: { id: id ?? '' }, body: {} }).then(
      ({ data }) => say(NOTIFIED[data.mail]),
      (error: Error) => say(error.message),
    );
  return (
    <Detail
      id={id}
      onClose={onClose}
      query={query}
      title={(parcel) => `Parcel to ${parcel?.creator_name ?? parcel?.creator_email ?? '…'}`}
    >
      {(parcel) => (
        <>
          <p className="row">
            <Badge state={parcelState(parcel)} />
          </p>
          <Facts
            of={[
              ['Creator', <CreatorName key="creator" of={parcel} />],
              ['Ship to', addressText(parcel)],
              [
                'Contents',
                parcel.product_description ??
                  parcel.products?.map(({ name, quantity }) => `${quantity} × ${name}`).join('\n'),
              ],
              ['Campaign', <CampaignName key="campaign" id={parcel.campaign_id} />],
              ['Carrier', parcel.carrier && <Tracked key="carrier" of={parcel} />],
              ['Carrier status', parcel.tracking_status],
              ['Tracking problem', parcel.tracking_error],
              [
                'Reported by the creator',
                parcel.reported_missing_at
                  ? 'Not received'
                  : parcel.creator_confirmed_receipt
                    ? 'Received'
                    : 'No report yet',
              ],
              ['Shipped', day(parcel.shipped_at)],
              ['Delivered', day(parcel.delivered_at)],
              [
                'Expected',
                parcel.delivered_at === null && parcel.estimated_arrival && (
                  <Due at={parcel.estimated_arrival} late="Late" isDone={parcel.status === 'returned'} />
                ),
              ],
              ['Notes', parcel.notes],
            ]}
          />
          {parcel.tracking_events.length > 0 && (
            <section>
              <h3>Tracking</h3>
              <ul className="plain">
                {parcel.tracking_events.map(({ at, status, message, location }, i) => (
                  <li key={`${at} ${status} ${i}`}>
                    <span className="muted">
                      <Time at={at} />
                    </span>{' '}
                    {message ?? words(status)} {location && `(${location})`}
                  </li>
                ))}
              </ul>
            </section>
          )}
          <div className="row">
            <Editor item={parcel} needs="update_shipment" kind="primary">
              {(editing) => <EditShipment {...editing} />}
            </Editor>
            <Button needs="notify_shipment_creator" isBusy={notify.isPending} onPress={() => void notifyCreator()}>
              Email the creator
            </Button>
          </div>
        </>
      )}
    </Detail>
  );
}

export function Shipments() {
  const query = useWorkQuery(STATES);
  const list = useRows('list_shipments', query);
  const panel = useOpened();
  const sharing = useDialog('share');
  const making = useDialog('create');
  const columns: readonly Column<Shipment>[] = [
    {
      head: 'To',
      cell: ({ id, creator_name, creator_email, product_description }) => (
        <Opener of={{ creator_name, creator_email }} onOpen={() => panel.open(id)} second={product_description}>
          {creator_name ?? creator_email ?? id}
        </Opener>
      ),
    },
    { head: 'Status', cell: (row) => <Badge state={parcelState(row)} /> },
    {
      head: 'Carrier',
      cell: (row) => <Tracked of={row} />,
      isWide: true,
    },
    ...(list.rows.some(({ estimated_arrival, delivered_at }) => (estimated_arrival ?? delivered_at) !== null)
      ? [{ head: 'Arrival', cell: (row: Shipment) => <Arrival of={row} />, chip: 'value' as const }]
      : []),
    { head: 'Created', cell: ({ created_at }) => day(created_at), isWide: true, isOrder: true },
  ];
  return (
    <WorkPage
      title="Shipments"
      hint="Products you send to creators, and where they are."
      states={STATES}
      list={list}
      columns={columns}
      empty="Add one when you send products to a creator."
      actions={
        <Button needs="share_shipments" onPress={sharing.open}>
          Share tracking page
        </Button>
      }
      create={{
        operation: 'create_shipment',
        title: 'Add a shipment',
        action: 'Add',
        start: { creator_email: query.creator_email, campaign_id: query.campaign_id, notify_creator: true },
        fields: [
          'creator_email',
          'campaign_id',
          { name: 'shipping_address', label: 'Address' },
          'shipping_address.street',
          { name: 'shipping_address.line2', isBeside: true },
          'shipping_address.city',
          { name: 'shipping_address.state', isBeside: true },
          'shipping_address.zip',
          { name: 'shipping_address.country', isBeside: true },
          'product_description',
          { name: 'products', label: 'Products' },
          'carrier',
          { name: 'tracking_number', isBeside: true },
          'estimated_arrival',
          'notify_creator',
        ],
        shown: ['list_shipments'],
        onDone: making.close,
      }}
    >
      <ShareDialog isOpen={sharing.isOpen} onClose={sharing.close} />
      <Parcel id={panel.id} onClose={panel.close} />
    </WorkPage>
  );
}
