import { Link, useParams } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { creatorName, creatorSecond } from '../kit/creator-name.ts';
import { Editor } from '../kit/editor.tsx';
import { everyOf } from '../kit/every.ts';
import { choiceOf, useFilters } from '../kit/filters.tsx';
import { deadline, isPastDeadline, isWholeDay, money, number, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { major } from '../kit/minor.ts';
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
import { type Column, Table } from '../kit/table.tsx';
import { type Campaign, EditCampaign } from './campaign-edit.tsx';
import { CreatorCell, FormLinks } from './item-links.tsx';
import { platformName } from './platforms.ts';
import { SalesTrend } from './sales-trend.tsx';
import {
  BriefsGlance,
  ContractsGlance,
  DeliverablesGlance,
  LinksGlance,
  PostsGlance,
  ShipmentsGlance,
} from './work-glances.tsx';

type Member = Row<'list_campaign_creators'>;

interface Balance {
  currency: string;
  fees: number;
  commissions: number;
  sales: number;
  orders: number;
  clicks: number;
}

/** What the campaign cost and brought, by currency. */
function useBalances(id: string) {
  const creators = useCall('list_campaign_creators', { params: { id }, query: { limit: 1 } });
  const results = useCall('list_campaign_performance', { query: { campaign_id: id } });
  const balances = new Map<string, Balance>();
  const of = (currency: string): Balance => {
    const none = { currency, fees: 0, commissions: 0, sales: 0, orders: 0, clicks: 0 };
    const one = balances.get(currency) ?? none;
    balances.set(currency, one);
    return one;
  };
  for (const { currency, amount } of creators.data?.summary.fees ?? []) of(currency).fees += amount;
  for (const { currency, revenue_minor, commission_minor, conversions, clicks } of results.data?.data ?? []) {
    const one = of(currency);
    const { pending, approved, paid } = commission_minor;
    one.commissions += major(pending + approved + paid, currency);
    one.sales += major(revenue_minor, currency);
    one.orders += conversions;
    one.clicks += clicks;
  }
  return {
    balances: [...balances.values()],
    error: creators.error ?? results.error,
    isLoading: creators.isPending || results.isPending,
    again: () => void Promise.all([creators.refetch(), results.refetch()]),
  };
}

const returnText = (sales: number, spend: number) =>
  spend === 0 ? '–' : `${number(Math.round((sales / spend) * 10) / 10)}×`;

function Money({ id }: { id: string }) {
  const { balances, error, isLoading, again } = useBalances(id);
  const brand = useCall('get_session').data?.data.brand.currency ?? 'USD';
  if (error) return <Failure error={error} again={again} />;
  if (isLoading) return <Loading rows={2} />;
  const none = { currency: brand, fees: 0, commissions: 0, sales: 0, orders: 0, clicks: 0 };
  return (balances.length > 0 ? balances : [none]).map(({ currency, fees, commissions, sales, orders, clicks }) => (
    <Stats key={currency}>
      <Stat
        label="Spend"
        value={money(fees + commissions, currency)}
        note={`${money(fees, currency)} fees, ${money(commissions, currency)} commissions`}
      />
      <Stat label="Sales" value={money(sales, currency)} note={`${number(orders)} orders, less refunds`} />
      <Stat label="Return" value={returnText(sales, fees + commissions)} note="Sales for each unit spent" />
      <Stat label="Clicks" value={number(clicks)} />
    </Stats>
  ));
}

/** The stages as filters, with the number of creators at each. */
function Stages({ id, stage }: { id: string; stage: string | undefined }) {
  const { set } = useFilters();
  const { data } = useCall('list_campaign_creators', { params: { id }, query: { limit: 1 } });
  const stages = data?.summary.by_stage ?? [];
  const all = stages.reduce((sum, { creators }) => sum + creators, 0);
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
          <strong>{number(one.creators)}</strong> {one.stage === '' ? 'All' : words(one.stage)}
        </label>
      ))}
    </fieldset>
  );
}

const STAGES = everyOf<Member['stage']>()(['applied', 'accepted', 'contracted', 'delivered', 'posted', 'paid']);

function Creators({ campaign: { id, apply_url } }: { campaign: Campaign }) {
  const { get } = useFilters();
  const stage = choiceOf(get('stage'), STAGES);
  const list = useRows('list_campaign_creators', { stage }, { params: { id } });
  const columns: readonly Column<Member>[] = [
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
      cell: ({ stage: at, application_id }) =>
        at === 'applied' && application_id !== null ? (
          <span className="row">
            <Badge state={at} />
            <Link to="/applications" search={{ open: application_id }}>
              Review
            </Link>
          </span>
        ) : (
          <Badge state={at} />
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
      cell: ({ earned }) => earned.map(({ amount, currency }) => money(amount, currency)).join(', ') || '–',
      isNumber: true,
    },
  ];
  return (
    <Card title="Creators">
      <Stages id={id} stage={stage} />
      <Table
        caption="Creators of the campaign"
        list={list}
        columns={columns}
        keyOf={({ creator_id, application_id }) => creator_id ?? application_id ?? ''}
        empty={
          <Empty title={stage ? 'No creators at this stage' : 'No creators yet'}>
            <p>Share the campaign’s page. Creators who apply appear here.</p>
            <Copy text={apply_url} label="Copy the apply page’s address" />
          </Empty>
        }
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

function About({ campaign }: { campaign: Campaign }) {
  const { requirements, description } = campaign;
  const zone = useCall('get_session').data?.data.brand.time_zone;
  return (
    <Card title="About the campaign">
      {description && <p className="biography">{description}</p>}
      <Facts
        of={[
          ['Pay', campaign.compensation_label],
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
  const update = useChange('update_campaign', ['list_campaigns', 'get_campaign']);
  const other = campaign.status === 'active' ? 'paused' : 'active';
  return (
    <>
      <a className="button plain" href={campaign.apply_url} target="_blank" rel="noreferrer">
        Open the apply page
      </a>
      <Copy text={campaign.apply_url} label="Copy the apply page’s address" />
      <Editor item={campaign} needs="update_campaign" kind="primary">
        {(editing) => <EditCampaign {...editing} />}
      </Editor>
      <Menu label="More actions for the campaign" needs="update_campaign">
        <FormLinks of={{ campaign_id: campaign.id }} />
        <IfMay needs="track_content">
          <Link to="/content" search={{ campaign_id: campaign.id, dialog: 'create' }} className="button plain">
            Track a post
          </Link>
        </IfMay>
        <Button onPress={() => update.mutate({ params: { id: campaign.id }, body: { status: other } })}>
          {other === 'paused' ? 'Pause applications' : 'Open for applications'}
        </Button>
      </Menu>
    </>
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
  return (
    <>
      <PageHead
        title={campaign.title}
        hint={
          <span className="row">
            <Badge state={campaign.status} /> {campaign.compensation_label}
          </span>
        }
      >
        <Actions campaign={campaign} />
      </PageHead>
      <Money id={id} />
      <Card title="Sales by week, last 12 weeks">
        <SalesTrend only={{ campaign: id }} days={84} granularity="week" />
      </Card>
      <Creators campaign={campaign} />
      <Work id={id} />
      <About campaign={campaign} />
    </>
  );
}
