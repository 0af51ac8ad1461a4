import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { everyOf } from '../kit/every.ts';
import { CREATOR_FILTER, choiceOf, Filters, stateFilter, useFilters } from '../kit/filters.tsx';
import { day } from '../kit/format.ts';
import { Badge, Button, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';

const STATES = everyOf<Row<'list_applications'>['status']>()(['pending', 'shortlisted', 'accepted', 'rejected']);
/** Any decision can be changed later. */
const DECISIONS = [
  { to: 'rejected', label: 'Reject', kind: 'danger' },
  { to: 'shortlisted', label: 'Shortlist', kind: 'plain' },
  { to: 'accepted', label: 'Accept', kind: 'primary' },
] as const;
type Application = Row<'list_applications'>;

function Detail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data, error, refetch } = useCall(
    'get_application',
    { params: { id: id ?? '' } },
    { enabled: id !== undefined },
  );
  const update = useChange('update_application', [
    'list_applications',
    'get_application',
    'list_roster',
    'list_campaigns',
  ]);
  const application = data?.data;
  const decide = (status: 'accepted' | 'rejected' | 'shortlisted') =>
    update.mutateAsync({ params: { id: id ?? '' }, body: { status } }).then(onClose, () => undefined);
  return (
    <Dialog
      title={application?.creator_name ?? application?.creator_email ?? 'Application'}
      isOpen={id !== undefined}
      onClose={onClose}
      isSide
    >
      {error && <Failure error={error} again={() => void refetch()} />}
      {!application && !error && <Loading />}
      {application && application.id === id && (
        <>
          <Facts
            of={[
              ['Campaign', application.campaign_title],
              ['Status', <Badge key="state" state={application.status} />],
              ['E-mail', application.creator_email],
              ['Photo app', application.creator_photo_app && `@${application.creator_photo_app}`],
              ['Video app', application.creator_video_app && `@${application.creator_video_app}`],
              ['Applied', day(application.applied_at)],
              ['Message', application.message],
              [
                'Portfolio',
                application.portfolio_urls.map((url) => (
                  <a key={url} href={url} target="_blank" rel="noreferrer" className="block">
                    {url}
                  </a>
                )),
              ],
              ['Note', application.note],
            ]}
          />
          {update.error && <Failure error={update.error} />}
          <div className="popup-foot">
            {DECISIONS.filter(({ to }) => to !== application.status).map(({ to, label, kind }) => (
              <Button
                key={to}
                needs="update_application"
                kind={kind}
                isBusy={update.isPending}
                onPress={() => void decide(to)}
              >
                {label}
              </Button>
            ))}
          </div>
        </>
      )}
    </Dialog>
  );
}

/** The campaign that the list is limited to. */
function OfCampaign({ id, onAll }: { id: string; onAll: () => void }) {
  const { data } = useCall('get_campaign', { params: { id } });
  return (
    <p className="row">
      <span>
        Only applications to <strong>{data?.data.title ?? 'one campaign'}</strong>
      </span>
      <Button onPress={onAll}>Show all</Button>
    </p>
  );
}

export function Applications() {
  const { get, set } = useFilters();
  const query = {
    status: choiceOf(get('status'), STATES),
    campaign_id: get('campaign_id'),
    creator_email: get('creator_email'),
  };
  const list = useRows('list_applications', query);
  const [shown, setShown] = useState<string>();
  const columns: readonly Column<Application>[] = [
    {
      head: 'Creator',
      cell: ({ id, creator_name, creator_email }) => (
        <Opener onOpen={() => setShown(id)} second={creator_name ? creator_email : ''}>
          {creator_name ?? creator_email}
        </Opener>
      ),
    },
    { head: 'Campaign', cell: ({ campaign_title }) => campaign_title, isWide: true },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Applied', cell: ({ applied_at }) => day(applied_at), isWide: true },
  ];
  return (
    <>
      <PageHead
        title="Applications"
        hint="Creators who want to work with you. Accepting one puts the creator on the roster."
      >
        <Download id="list_applications" query={query} name="applications.csv" />
      </PageHead>
      <Filters of={[stateFilter(STATES), CREATOR_FILTER]} />
      {query.campaign_id && <OfCampaign id={query.campaign_id} onAll={() => set('campaign_id', '')} />}
      <Table
        caption="Applications"
        list={list}
        columns={columns}
        empty={<Empty title="No applications here">Creators apply on your campaigns’ pages.</Empty>}
      />
      <Detail id={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
