import type { ReactNode } from 'react';
import type { Answer, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { day, daysUntil, isPastDeadline, words } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Button, Copy, Facts, OnPhone } from '../kit/parts.tsx';
import { type Step, Steps } from '../kit/steps.tsx';
import { type Column, Opener } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';
import { toOrderText, useWorkQuery, WorkPage } from '../kit/work.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';
import { addressLines, parcelState } from './parcel.ts';
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

const isUnsent = (parcel: Pick<Shipment, 'status'>) => parcelState(parcel) === 'pending';

/** So few days before its arrival, a parcel should be on its way. */
const NEAR_DAYS = 3;

/** The day that a parcel arrived, or is expected. One that should be on its way, and is not, says so. */
function renderArrival(parcel: Pick<Shipment, 'estimated_arrival' | 'delivered_at' | 'status'>): ReactNode {
  const { estimated_arrival: expected, delivered_at, status } = parcel;
  if (status === 'delivered' && delivered_at) return <span className="unbroken">{day(delivered_at)}</span>;
  if (expected === null || status === 'delivered' || status === 'returned') return '–';
  const isBehind = isUnsent(parcel) && daysUntil(expected) <= NEAR_DAYS;
  const mark = isBehind ? 'Not shipped' : isPastDeadline(expected) && 'Late';
  return (
    <>
      <span className="unbroken">{day(expected)}</span> {mark && <span className="second late">{mark}</span>}
    </>
  );
}

/** The state of a parcel; one that has not left is for the brand to send. */
const State = ({ of: parcel }: { of: Pick<Shipment, 'status'> }) => (
  <Badge state={parcelState(parcel)} isWaiting={isUnsent(parcel)} />
);

interface NextStepProps {
  of: Shipment;
  isMain?: boolean;
  /** For a row on a phone, which has no room for the whole of it. */
  isShort?: boolean;
}

/** Marks a parcel as sent, or as arrived where no carrier says so. */
function NextStep({ of: parcel, isMain = false, isShort = false }: NextStepProps) {
  const update = useChange('update_shipment', ['list_shipments', 'get_shipment']);
  const say = useSay();
  const next = isUnsent(parcel) ? 'shipped' : parcel.status === 'shipped' ? 'delivered' : null;
  if (next === null) return null;
  const move = () =>
    update.mutateAsync({ params: { id: parcel.id }, body: { status: next } }).then(
      () => say(`The parcel is marked as ${next}.`),
      ({ message }: Error) => say(message),
    );
  return (
    <Button
      needs="update_shipment"
      kind={isMain ? 'primary' : 'plain'}
      isBusy={update.isPending}
      onPress={() => void move()}
      {...(isMain ? {} : { label: `Mark as ${next}: ${parcel.creator_name ?? parcel.creator_email ?? parcel.id}` })}
    >
      {isShort ? words(next) : `Mark as ${next}`}
    </Button>
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

type ParcelDetail = Answer<'get_shipment'>['data'];

/** The way of a parcel: what happened, and what is to come. */
function listSteps(parcel: ParcelDetail): readonly Step[] {
  const { created_at, shipped_at, delivered_at, estimated_arrival: expected, status } = parcel;
  const isReturned = status === 'returned';
  const isDelivered = delivered_at !== null || status === 'delivered';
  const creator = parcel.creator_name ?? 'the creator';
  return [
    { name: 'Created', at: created_at, isDone: true },
    { name: 'Shipped', at: shipped_at, isDone: shipped_at !== null || !isUnsent(parcel) },
    ...(isReturned && !isDelivered
      ? []
      : [{ name: 'Delivered', at: delivered_at, isDone: isDelivered, note: expected && `Expected ${day(expected)}` }]),
    ...(isReturned ? [{ name: 'Returned', at: null, isDone: true }] : []),
    ...(parcel.reported_missing_at
      ? [{ name: `Reported missing by ${creator}`, at: parcel.reported_missing_at, isDone: true, isBad: true }]
      : isReturned
        ? []
        : [
            {
              name: `Receipt confirmed by ${creator}`,
              at: parcel.confirmed_at,
              isDone: parcel.creator_confirmed_receipt,
            },
          ]),
  ];
}

/** The whole address in lines, to copy onto a label. */
function Address({ of: parcel }: { of: ParcelDetail }) {
  const lines = addressLines(parcel);
  if (lines.length === 0) return 'No address yet';
  const text = [parcel.creator_name, ...lines].filter(Boolean).join('\n');
  return (
    <div className="apart">
      <span>{lines.join('\n')}</span>
      <Copy text={text} label="Copy the address" />
    </div>
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
          <div className="row">
            <State of={parcel} />
            <NextStep of={parcel} isMain />
            <Editor item={parcel} needs="update_shipment">
              {(editing) => <EditShipment {...editing} />}
            </Editor>
            <Button needs="notify_shipment_creator" isBusy={notify.isPending} onPress={() => void notifyCreator()}>
              Email the creator
            </Button>
          </div>
          <Steps of={listSteps(parcel)} />
          <Facts
            of={[
              ['Creator', <CreatorName key="creator" of={parcel} />],
              [
                'Contents',
                parcel.product_description ??
                  parcel.products?.map(({ name, quantity }) => `${quantity} × ${name}`).join('\n'),
              ],
              ['Campaign', <CampaignName key="campaign" id={parcel.campaign_id} />],
              ['Carrier', parcel.carrier && <Tracked key="carrier" of={parcel} />],
              ['Carrier status', parcel.tracking_status],
              ['Tracking problem', parcel.tracking_error],
              ['Ship to', <Address key="address" of={parcel} />],
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
        <Opener
          of={{ creator_name, creator_email }}
          onOpen={() => panel.open(id)}
          second={<span className="parcel-contents">{product_description}</span>}
        >
          {creator_name ?? creator_email ?? id}
        </Opener>
      ),
    },
    { head: 'Campaign', cell: ({ campaign_id }) => <CampaignName id={campaign_id} />, isWide: true },
    {
      head: 'Status',
      cell: (row) => (
        <>
          <State of={row} />
          <OnPhone>
            <NextStep of={row} isShort />
          </OnPhone>
        </>
      ),
    },
    {
      head: 'Carrier',
      cell: (row) => <Tracked of={row} />,
      isWide: true,
    },
    ...(list.rows.some(({ estimated_arrival, delivered_at }) => (estimated_arrival ?? delivered_at) !== null)
      ? [{ head: 'Arrival', cell: renderArrival, chip: 'named' as const }]
      : []),
    { head: 'Actions', needs: 'update_shipment', isWide: true, cell: (row) => <NextStep of={row} /> },
  ];
  return (
    <WorkPage
      title="Shipments"
      hint="Products you send to creators, and where they are."
      states={STATES}
      list={list}
      columns={columns}
      order={toOrderText(query.sort)}
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
