import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call, type Row, whenAccepted } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useMay } from '../call/may.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import {
  CAMPAIGN_FILTER,
  CREATOR_FILTER,
  Filters,
  findChoice,
  sortIn,
  useFilters,
  waitingSortIn,
} from '../kit/filters.tsx';
import { compact, day, number, rate, words } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { Badge, Button, breakable, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { useSelection } from '../kit/selection.ts';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { getPicture } from './directory-creator.tsx';
import { CampaignLink, CreatorLink, toProfileLink } from './item-links.tsx';

const STATES = listChoices('list_applications', 'status');
/** Any decision can be changed later. */
const DECISIONS = [
  { to: 'rejected', label: 'Reject', kind: 'danger' },
  { to: 'shortlisted', label: 'Shortlist', kind: 'plain' },
  { to: 'accepted', label: 'Accept', kind: 'primary' },
] as const;
type ApplicationDecision = (typeof DECISIONS)[number]['to'];
type Application = Row<'list_applications'>;

const SHOWN = ['list_applications', 'get_application', 'list_roster', 'list_campaigns'] as const;

type DirectoryProfile = Row<'look_up_creators'>;
/** Null if the directory does not have the applicant's handle; undefined until it has answered. */
type Profiles = (application: Pick<Application, 'creator_photo_app'>) => DirectoryProfile | null | undefined;

/** The directory's profiles of the handles that applicants gave. */
function useProfiles(of: readonly Pick<Application, 'creator_photo_app'>[]): Profiles {
  const usernames = [...new Set(of.flatMap(({ creator_photo_app: handle }) => handle ?? []))].toSorted();
  const lookUp = useCall('look_up_creators', { body: { usernames } }, { enabled: usernames.length > 0 });
  const { data, error, isPlaceholderData } = lookUp;
  const isAsking = error === null && (data === undefined || isPlaceholderData);
  const profiles = new Map(data?.data.map((profile) => [profile.username.toLowerCase(), profile]));
  return ({ creator_photo_app: handle }) =>
    profiles.get((handle ?? '').toLowerCase()) ?? (handle && isAsking ? undefined : null);
}

const UNKNOWN = 'not in the directory';

const findPicture = (profile: DirectoryProfile | null | undefined) => (profile ? getPicture(profile) : null);

/** A figure of the applicant's profile. */
function Figure({ of, children }: { of: DirectoryProfile | null | undefined; children: ReactNode }) {
  if (of === undefined) return <span className="muted">…</span>;
  if (of) return children;
  return <span title={UNKNOWN}>–</span>;
}

/** Links to the profiles that the applicant gave. */
function Handles({ of: { creator_photo_app, creator_video_app } }: { of: Application }) {
  if (!creator_photo_app) return toProfileLink('tiktok.com/@', creator_video_app);
  return (
    <span className="handles">
      {toProfileLink('instagram.com/', creator_photo_app)}
      {creator_video_app && <span> · {toProfileLink('tiktok.com/@', creator_video_app, 'TikTok')}</span>}
    </span>
  );
}

/** The platform that the applicant's figures are of. */
const nameApp = ({ creator_photo_app, creator_video_app }: Application) =>
  creator_photo_app ? 'Instagram' : creator_video_app && 'TikTok';

interface ApplicationDetailProps {
  id: string | undefined;
  onClose: () => void;
  /** Opens the next one of the list, if there is one. */
  onNext?: () => void;
}

function Detail({ id, onClose, onNext }: ApplicationDetailProps) {
  const { data, error, refetch } = useCall(
    'get_application',
    { params: { id: id ?? '' } },
    { enabled: id !== undefined },
  );
  const update = useChange('update_application', SHOWN);
  const application = data?.data;
  const profile = useProfiles(application ? [application] : [])(application ?? { creator_photo_app: null });
  const decide = (status: ApplicationDecision) =>
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
          <div className="profile">
            <CreatorFace
              name={application.creator_name ?? application.creator_email}
              email={application.creator_email}
              isLarge
            />
            <div>
              <p>{breakable(application.creator_email)}</p>
              <p>
                <CreatorLink id={application.creator_email}>Open the creator’s page</CreatorLink>
              </p>
            </div>
          </div>
          <Facts
            of={[
              [
                'Campaign',
                <CampaignLink key="campaign" id={application.campaign_id}>
                  {application.campaign_title}
                </CampaignLink>,
              ],
              ['Status', <Badge key="state" state={application.status} isWaiting={application.status === 'pending'} />],
              ['Followers', profile === null ? `Unknown: ${UNKNOWN}` : profile && number(profile.follower_count)],
              ['Engagement', profile && rate(profile.engagement_rate)],
              ['Instagram', toProfileLink('instagram.com/', application.creator_photo_app)],
              ['TikTok', toProfileLink('tiktok.com/@', application.creator_video_app)],
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
            {onNext && <Button onPress={onNext}>Next</Button>}
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

const ANY = ['all', ...STATES] as const;

/** Pending applications are shown by default; for one creator or campaign all of them, the pending ones first. */
function useStatus(): (typeof ANY)[number] {
  const { get } = useFilters();
  const isNarrow = ['creator_email', 'campaign_id'].some((name) => get(name) !== undefined);
  return findChoice(get('status'), ANY) ?? (isNarrow ? 'all' : 'pending');
}

/** Decides on an application in its row. */
function Decide({ of: { id, creator_name, creator_email } }: { of: Application }) {
  const update = useChange('update_application', SHOWN);
  const say = useSay();
  const name = creator_name ?? creator_email;
  const decide = (status: ApplicationDecision) => update.mutateAsync({ params: { id }, body: { status } });
  const accept = () =>
    decide('accepted').then(
      () => say(`${name} is on the roster.`),
      (error: Error) => say(error.message),
    );
  return (
    <span className="row">
      <Confirm
        label="Reject"
        title={`Reject ${name}?`}
        action="Reject"
        onConfirm={() => decide('rejected').then(() => say(`${name} was rejected.`))}
      >
        <p>The creator is told by email. The decision can be changed later.</p>
      </Confirm>
      <Button isBusy={update.isPending} onPress={() => void accept()}>
        Accept
      </Button>
    </span>
  );
}

/** Decides on the applications that are selected in the list. If it fails on the way, those not decided stay selected. */
function DecideAll({ ids, onDone }: { ids: readonly string[]; onDone: (ids: Iterable<string>) => void }) {
  const cache = useQueryClient();
  if (ids.length === 0) return null;
  const count = `${number(ids.length)} ${ids.length === 1 ? 'application' : 'applications'}`;
  async function decide(status: ApplicationDecision) {
    const decidedIds: string[] = [];
    try {
      for (const id of ids) {
        await whenAccepted(() => call('update_application', { params: { id }, body: { status } }));
        decidedIds.push(id);
      }
    } finally {
      await Promise.all(SHOWN.map((name) => cache.invalidateQueries({ queryKey: [name] })));
      onDone(decidedIds);
    }
  }
  return (
    <section className="bar" aria-label="Selected applications">
      <strong role="status">{number(ids.length)} selected</strong>
      <div className="row">
        {DECISIONS.map(({ to, label, kind }) => (
          <Confirm
            key={to}
            label={label}
            title={`${label} ${count}?`}
            action={label}
            isDanger={kind === 'danger'}
            onConfirm={() => decide(to)}
          >
            <p>
              {to === 'accepted' && 'Their creators are put on the roster. '}
              Each decision can be changed later.
            </p>
          </Confirm>
        ))}
      </div>
    </section>
  );
}

export function Applications() {
  const { get } = useFilters();
  const status = useStatus();
  const filters = {
    status: status === 'all' ? undefined : status,
    creator_email: get('creator_email'),
    campaign_id: get('campaign_id'),
  };
  const query = { ...filters, sort: status === 'all' ? waitingSortIn(get) : sortIn(get) };
  const list = useRows('list_applications', query);
  const panel = useOpened();
  const mayDecide = useMay()('update_application');
  // People who may decide see it in place of the buttons.
  const hasStatus = status === 'all' && !mayDecide;
  const profiles = useProfiles(list.rows);
  const selection = useSelection<Application>(filters);
  const next = list.rows[list.rows.findIndex(({ id }) => id === panel.id) + 1];
  const columns: readonly Column<Application>[] = [
    {
      head: 'Creator',
      cell: (application) => (
        <Opener
          of={{ ...application, picture: findPicture(profiles(application)) }}
          onOpen={() => panel.open(application.id)}
          second={
            <>
              {application.creator_photo_app || application.creator_video_app ? (
                <Handles of={application} />
              ) : (
                application.creator_name && application.creator_email
              )}
              {!mayDecide && <span className="narrow">{application.campaign_title}</span>}
              {hasStatus && (
                <span className="narrow">
                  <Badge state={application.status} isWaiting={application.status === 'pending'} />
                </span>
              )}
            </>
          }
        >
          {application.creator_name ?? application.creator_email}
        </Opener>
      ),
    },
    {
      head: 'Followers',
      cell: (application) => {
        const profile = profiles(application);
        return (
          <>
            <Figure of={profile}>{compact(profile?.follower_count)}</Figure>
            <span className="second">
              {profile ? `${rate(profile.engagement_rate)} engagement` : nameApp(application)}
            </span>
          </>
        );
      },
      isNumber: true,
    },
    {
      head: 'Campaign',
      cell: ({ campaign_id, campaign_title }) => <CampaignLink id={campaign_id}>{campaign_title}</CampaignLink>,
      isWide: true,
    },
    {
      head: 'Message',
      cell: ({ message, campaign_title }) => (
        <>
          {mayDecide && <span className="narrow">{campaign_title}</span>}
          <span className="said-more">{message}</span>
        </>
      ),
      isWide: true,
    },
    ...(hasStatus
      ? [
          {
            head: 'Status',
            cell: ({ status: its }: Application) => <Badge state={its} isWaiting={its === 'pending'} />,
            isWide: true,
          },
        ]
      : []),
    { head: 'Applied', cell: ({ applied_at }) => day(applied_at), isWide: true, isOrder: true },
    {
      head: 'Actions',
      needs: 'update_application',
      cell: (application) =>
        application.status === 'pending' ? (
          <Decide of={application} />
        ) : (
          status === 'all' && <Badge state={application.status} />
        ),
    },
  ];
  return (
    <>
      <PageHead
        title="Applications"
        hint="Creators who want to work with you. Accepting one puts the creator on the roster."
      >
        <Download id="list_applications" query={query} name="applications.csv" />
      </PageHead>
      <Filters
        of={[
          {
            name: 'status',
            label: 'Status',
            kind: 'select',
            fallback: status,
            options: ANY.map((one) => [one, words(one)]),
          },
          CREATOR_FILTER,
          CAMPAIGN_FILTER,
        ]}
      />
      <Table
        caption="Applications"
        noun="application"
        list={list}
        columns={columns}
        {...(mayDecide ? { selection } : {})}
        empty={
          status === 'pending' ? (
            <Empty title="No application waits for you">
              <Link to="/applications" search={{ status: 'all', campaign_id: get('campaign_id') }}>
                Show all applications
              </Link>
            </Empty>
          ) : (
            <Empty title="No applications here">Creators apply on your campaigns’ pages.</Empty>
          )
        }
      />
      <DecideAll ids={[...selection.selected.keys()]} onDone={selection.drop} />
      <Detail
        id={panel.id}
        onClose={panel.close}
        {...(panel.id !== undefined && next ? { onNext: () => panel.open(next.id) } : {})}
      />
    </>
  );
}
