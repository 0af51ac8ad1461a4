import { Link, useParams } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useAll, useCall, useChange, useRows } from '../call/use.ts';
import { copied, NOT_COPIED } from '../kit/copied.ts';
import { creatorName, creatorSecond } from '../kit/creator-name.ts';
import { Editor } from '../kit/editor.tsx';
import { findChoice, useFilters } from '../kit/filters.tsx';
import {
  day,
  deadline,
  isPastDeadline,
  isWholeDay,
  minorMoney,
  money,
  multiple,
  number,
  words,
} from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import {
  Badge,
  Button,
  Card,
  Copy,
  Empty,
  Facts,
  Failure,
  IfMay,
  Loading,
  PageHead,
  Stat,
  Stats,
} from '../kit/parts.tsx';
import { platformName } from '../kit/platforms.ts';
import { type Column, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { DAY_MS } from '../kit/utc-day.ts';
import { Why } from '../kit/why.tsx';
import { BudgetBars } from './budget-bars.tsx';
import { type Campaign, EditCampaign } from './campaign-edit.tsx';
import { Readiness } from './campaign-readiness.tsx';
import { costParts, SINCE, spendIn } from './campaign-spend.ts';
import { offerText } from './compensation.ts';
import { CreatorCell, FormLinks } from './item-links.tsx';
import { useLinkPay } from './link-pay.ts';
import { SalesTrend } from './sales-trend.tsx';
import { TermsButton } from './terms-dialog.tsx';
import {
  BriefsGlance,
  ContractsGlance,
  DeliverablesGlance,
  LinksGlance,
  PostsGlance,
  ShipmentsGlance,
} from './work-glances.tsx';

type CampaignMember = Row<'list_campaign_creators'>;

/** The campaign's costs and earnings since it began, by currency: the same figures as on the page Profit. */
function Money({ id, isDraft }: { id: string; isDraft: boolean }) {
  const returns = useAll('get_analytics_returns', { by: 'campaign', from: SINCE });
  const results = useCall('list_campaign_performance', { query: { campaign_id: id } });
  const brand = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const error = returns.error ?? results.error;
  if (error) return <Failure error={error} again={() => void Promise.all([returns.refetch(), results.refetch()])} />;
  const performance = results.data?.data;
  if (!returns.data || !performance) return isDraft ? null : <Loading rows={2} />;
  const rows = returns.data.filter(({ key }) => key === id);
  const clicksIn = (currency: string) =>
    performance.reduce((sum, one) => sum + (one.currency === currency ? one.clicks : 0), 0);
  if (rows.length === 0 && isDraft) return null;
  if (rows.length === 0) return <Earned of={{ ...NOTHING, currency: brand }} clicks={clicksIn(brand)} />;
  return rows.map((row) => <Earned key={row.currency} of={row} clicks={clicksIn(row.currency)} />);
}

type Returned = Pick<
  Row<'get_analytics_returns'>,
  | 'currency'
  | 'orders'
  | 'revenue_minor'
  | 'commission_minor'
  | 'fees_minor'
  | 'gifts_minor'
  | 'fixed_minor'
  | 'return_on_spend'
>;
const NOTHING = {
  orders: 0,
  revenue_minor: 0,
  commission_minor: 0,
  fees_minor: 0,
  gifts_minor: 0,
  fixed_minor: 0,
  return_on_spend: null,
};

function Earned({ of: row, clicks }: { of: Returned; clicks: number }) {
  const { currency, orders, revenue_minor: sales, return_on_spend: returned } = row;
  const spend = spendIn(row);
  const knownParts = costParts(row).filter(([, minor]) => minor !== null && minor !== 0);
  return (
    <Stats>
      <Stat
        label="Spend"
        value={minorMoney(spend, currency)}
        note={
          spend === null
            ? 'A cost is missing: see Profit'
            : knownParts.map(([name, minor]) => `${minorMoney(minor, currency)} ${name}`).join(', ') || 'No cost yet'
        }
      />
      <Stat
        label="Sales"
        value={minorMoney(sales, currency)}
        note={`${number(orders)} ${orders === 1 ? 'order' : 'orders'}, less refunds`}
        why="Paid orders of all time that this campaign’s links and codes won. Creators may have sold more by other links."
      />
      <Stat label="Return on spend" value={multiple(returned)} note="Sales divided by spend" />
      <Stat label="Clicks" value={number(clicks)} />
    </Stats>
  );
}

/** An application that was answered counts at a later stage. */
const STAGE_LABELS: Readonly<Record<string, string>> = { '': 'All', applied: 'Applied, to review', paid: 'Earning' };

/** Whoever was paid once may be owed more, so that the stage is not called paid. */
const toStage = (stage: string) => (stage === 'paid' ? 'earning' : stage);

/** The stages as filters, with the number of creators at each. */
function Stages({ id, stage }: { id: string; stage: string | undefined }) {
  const { set } = useFilters();
  const { data } = useCall('list_campaign_creators', { params: { id }, query: { limit: 1 } });
  // The stages have their places before their numbers are there.
  const stages = data?.summary.by_stage ?? STAGES.map((one) => ({ stage: one, creators: null }));
  const all = data?.summary.by_stage.reduce((sum, { creators }) => sum + creators, 0);
  return (
    <fieldset className="stages">
      <legend className="sr-only">Stage</legend>
      {[{ stage: '', creators: all }, ...stages].map((one) => (
        <label key={one.stage} className="stage">
          <input
            type="radio"
            name="stage"
            className="sr-only"
            checked={(stage ?? '') === one.stage}
            onChange={() => set('stage', one.stage)}
          />
          <strong>{number(one.creators)}</strong> {STAGE_LABELS[one.stage] ?? words(one.stage)}
        </label>
      ))}
    </fieldset>
  );
}

const STAGES = listChoices('list_campaign_creators', 'stage');

const earnedText = (earned: CampaignMember['earned']) =>
  earned.map(({ amount, currency }) => money(amount, currency)).join(', ');

/** Next steps while nobody applied: a draft is published first, and an ended campaign takes no applications. */
function NobodyYet({ of: { status, apply_url }, isFiltered }: { of: Campaign; isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No creators at this stage" />;
  if (status === 'draft') return <Empty title="No creators yet">Publish the campaign, then share its page.</Empty>;
  if (status === 'completed') return <Empty title="No creators">The campaign is completed.</Empty>;
  return (
    <Empty title="No creators yet">
      <p>Share the campaign’s page. Creators who apply appear here.</p>
      <Copy text={apply_url} label="Copy the apply page’s address" />
    </Empty>
  );
}

function Creators({ campaign }: { campaign: Campaign }) {
  const { id } = campaign;
  const { get } = useFilters();
  const stage = findChoice(get('stage'), STAGES);
  const list = useRows('list_campaign_creators', { stage }, { params: { id } });
  const columns: readonly Column<CampaignMember>[] = [
    {
      head: 'Creator',
      cell: (one) => (
        <CreatorCell
          id={one.roster_id ?? one.creator_email ?? one.creator_id ?? ''}
          name={creatorName(one)}
          url={one.pfp_url}
          second={creatorSecond(one)}
        />
      ),
    },
    {
      head: 'Stage',
      cell: ({ stage: at, application_id, earned }) => (
        <>
          <span className="row">
            <Badge state={toStage(at)} isWaiting={at === 'applied'} />
            {at === 'applied' && application_id !== null && (
              <Link to="/applications" search={{ open: application_id }}>
                Review
              </Link>
            )}
          </span>
          {earned.length > 0 && (
            <div className="narrow">
              <span className="second">{earnedText(earned)}</span>
            </div>
          )}
        </>
      ),
    },
    {
      head: 'Deliverables',
      cell: ({ deliverables, deliverables_approved }) =>
        deliverables === 0 ? '–' : `${number(deliverables_approved)} of ${number(deliverables)} approved`,
      isWide: true,
    },
    { head: 'Posts', cell: ({ posts }) => number(posts), isNumber: true, isWide: true },
    {
      head: 'Commissions',
      cell: ({ earned }) => earnedText(earned) || '–',
      isNumber: true,
      isWide: true,
    },
  ];
  return (
    <Card
      title="Creators"
      action={
        <Why of="a stage">
          Each creator counts once, at the furthest stage. A contract, deliverable, link or code counts as accepted; a
          tracked post as posted. Earning creators were paid a commission of this campaign, and may be owed more.
        </Why>
      }
    >
      {campaign.status !== 'draft' && <Stages id={id} stage={stage} />}
      <Table
        caption="Creators of the campaign"
        noun="creator"
        list={list}
        columns={columns}
        getKey={({ creator_id, application_id }) => creator_id ?? application_id ?? ''}
        empty={<NobodyYet of={campaign} isFiltered={stage !== undefined} />}
      />
    </Card>
  );
}

function Work({ id }: { id: string }) {
  const of = { campaign_id: id };
  return (
    <div className="grid">
      <ContractsGlance of={of} />
      <DeliverablesGlance of={of} />
      <LinksGlance of={of} />
      <PostsGlance of={of} />
      <BriefsGlance of={of} />
      <ShipmentsGlance of={of} />
    </div>
  );
}

/** The campaign's own terms in a sentence, and what is used of their budget. */
function CampaignDeal({ of }: { of: Campaign }) {
  const { text } = useLinkPay(of);
  return (
    <>
      {text}
      {of.terms !== null && <BudgetBars of={of.budget} />}
    </>
  );
}

function About({ campaign }: { campaign: Campaign }) {
  const { requirements, description } = campaign;
  const zone = useCall('get_session').data?.data.brand.time_zone;
  return (
    <Card title="About the campaign">
      {description && <p className="biography">{description}</p>}
      <Facts
        of={[
          ['Pay', offerText(campaign)],
          ['Links and codes pay', <CampaignDeal key="deal" of={campaign} />],
          ['Created', day(campaign.created_at)],
          ['Type', campaign.campaign_type && words(campaign.campaign_type)],
          [
            'Applications close',
            campaign.deadline && (
              <span className="row">
                {deadline(campaign.deadline)}
                {isWholeDay(campaign.deadline) && <span className="muted">at the end of the day, {zone}</span>}
                {campaign.status === 'active' && isPastDeadline(campaign.deadline) && (
                  <span className="badge quiet">Closed</span>
                )}
              </span>
            ),
          ],
          ['Platforms', requirements.platforms?.map((one) => platformName(one)).join(', ')],
          ['Minimum followers', number(requirements.min_followers)],
          ['Content type', requirements.content_types?.map(words).join(', ')],
          ['Deliverables', number(requirements.deliverables_count)],
        ]}
      />
    </Card>
  );
}

function Actions({ campaign }: { campaign: Campaign }) {
  const { status, apply_url } = campaign;
  const update = useChange('update_campaign', ['list_campaigns', 'get_campaign']);
  const say = useSay();
  const other = status === 'active' ? 'paused' : 'active';
  const isPublic = status === 'active' || status === 'paused';
  const copyLink = async () => {
    const isCopied = await copied(apply_url);
    say(isCopied ? 'The apply page’s address was copied.' : NOT_COPIED);
  };
  const change = () =>
    update.mutate({ params: { id: campaign.id }, body: { status: other } }, { onError: ({ message }) => say(message) });
  return (
    <>
      {status === 'draft' && (
        <Button needs="update_campaign" kind="primary" isBusy={update.isPending} onPress={change}>
          Publish
        </Button>
      )}
      {isPublic && (
        <>
          <a
            className={`button ${status === 'active' ? 'primary' : ''}`}
            href={apply_url}
            target="_blank"
            rel="noreferrer"
          >
            Open the apply page
          </a>
          <Button onPress={() => void copyLink()}>Copy link</Button>
        </>
      )}
      <Editor item={campaign} needs="update_campaign">
        {(editing) => <EditCampaign {...editing} />}
      </Editor>
      <TermsButton of={{ place: 'campaign', name: campaign.title, ...campaign }} />
      <Menu label="More actions for the campaign" needs="update_campaign">
        <FormLinks of={{ campaign_id: campaign.id }} />
        <IfMay needs="track_content">
          <Link to="/content" search={{ campaign_id: campaign.id, dialog: 'create' }} className="button plain">
            Track a post
          </Link>
        </IfMay>
        {status !== 'draft' && (
          <Button onPress={change}>{other === 'paused' ? 'Pause applications' : 'Open for applications'}</Button>
        )}
      </Menu>
    </>
  );
}

const WEEKS = 12;
/** A campaign that is younger has its sales by day. */
const YOUNG_DAYS = 28;

/** The campaign's sales since its launch, or the last weeks of an older one. */
function Trend({ of: { id, created_at } }: { of: Campaign }) {
  const age = Math.floor((Date.now() - Date.parse(created_at)) / DAY_MS);
  const isYoung = age < YOUNG_DAYS;
  const weeks = Math.min(WEEKS, Math.ceil(age / 7));
  const title = isYoung ? 'Sales by day' : 'Sales by week';
  return (
    <Card title={`${title}, ${weeks < WEEKS ? 'since the launch' : `last ${WEEKS} weeks`}`}>
      {isYoung ? (
        <SalesTrend only={{ campaign: id }} days={Math.max(2, age + 1)} granularity="day" />
      ) : (
        <SalesTrend only={{ campaign: id }} days={7 * weeks} granularity="week" />
      )}
    </Card>
  );
}

/** One campaign: creators by stage, work, links, posts, spend and return. */
export function CampaignPage() {
  const { id = '' } = useParams({ strict: false });
  const { data, error, refetch } = useCall('get_campaign', { params: { id } });
  const campaign = data?.data.id === id ? data.data : undefined;
  if (error && !campaign) {
    return (
      <>
        <PageHead title="Campaign" />
        <Failure error={error} again={() => void refetch()} />
      </>
    );
  }
  if (!campaign) return <Loading />;
  const isDraft = campaign.status === 'draft';
  return (
    <>
      <PageHead
        title={campaign.title}
        hint={
          <span className="row">
            <Badge state={campaign.status} /> {offerText(campaign)}
          </span>
        }
      >
        <Actions campaign={campaign} />
      </PageHead>
      {isDraft && <Readiness of={campaign} />}
      {isDraft && <About campaign={campaign} />}
      <Money id={id} isDraft={isDraft} />
      <Creators campaign={campaign} />
      {!isDraft && <Trend of={campaign} />}
      <Work id={id} />
      {!isDraft && <About campaign={campaign} />}
    </>
  );
}
