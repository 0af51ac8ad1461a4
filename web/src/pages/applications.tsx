import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { everyOf } from '../kit/every.ts';
import { day } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { Badge, Button, Facts, Failure, Loading } from '../kit/parts.tsx';
import { type Column, Opener } from '../kit/table.tsx';
import { useWorkQuery, WorkPage } from '../kit/work.tsx';
import { CampaignLink, CreatorName } from './item-links.tsx';

const STATES = everyOf<Row<'list_applications'>['status']>()(['pending', 'shortlisted', 'accepted', 'rejected']);
/** Any decision can be changed later. */
const DECISIONS = [
  { to: 'rejected', label: 'Reject', kind: 'danger' },
  { to: 'shortlisted', label: 'Shortlist', kind: 'plain' },
  { to: 'accepted', label: 'Accept', kind: 'primary' },
] as const;
type Application = Row<'list_applications'>;

/** Where the creator posts, such as `@ana.eats`; one name where both are the same. */
const handlesOf = (of: Pick<Application, 'creator_photo_app' | 'creator_video_app'>) =>
  [...new Set([of.creator_photo_app, of.creator_video_app])]
    .flatMap((handle) => (handle ? [`@${handle}`] : []))
    .join(', ');

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
              ['Creator', <CreatorName key="creator" of={application} />],
              [
                'Campaign',
                <CampaignLink key="campaign" id={application.campaign_id}>
                  {application.campaign_title}
                </CampaignLink>,
              ],
              ['Status', <Badge key="state" state={application.status} />],
              ['E-mail', application.creator_email],
              ['Instagram', application.creator_photo_app && `@${application.creator_photo_app}`],
              ['TikTok', application.creator_video_app && `@${application.creator_video_app}`],
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

export function Applications() {
  const query = useWorkQuery(STATES);
  const list = useRows('list_applications', query);
  const opened = useOpened();
  const columns: readonly Column<Application>[] = [
    {
      head: 'Creator',
      cell: ({ id, creator_name, creator_email, ...application }) => (
        <Opener
          of={{ creator_name, creator_email }}
          onOpen={() => opened.open(id)}
          second={handlesOf(application) || (creator_name ? creator_email : '')}
        >
          {creator_name ?? creator_email}
        </Opener>
      ),
    },
    {
      head: 'Campaign',
      cell: ({ campaign_id, campaign_title }) => <CampaignLink id={campaign_id}>{campaign_title}</CampaignLink>,
      isWide: true,
    },
    { head: 'Message', cell: ({ message }) => <span className="said-first">{message}</span>, isWide: true },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Applied', cell: ({ applied_at }) => day(applied_at), isWide: true, isOrder: true },
  ];
  return (
    <WorkPage
      title="Applications"
      hint="Creators who want to work with you. Accepting one puts the creator on the roster."
      states={STATES}
      list={list}
      columns={columns}
      empty="Creators apply on your campaigns’ pages."
      actions={<Download id="list_applications" query={query} name="applications.csv" />}
    >
      <Detail id={opened.id} onClose={opened.close} />
    </WorkPage>
  );
}
