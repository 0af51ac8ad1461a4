import { lazy, Suspense } from 'react';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { CAMPAIGN_FILTER, CREATOR_FILTER, type Filter, Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { aboutPercent, ago, compact, counted, day, number, rate, words } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Empty, Facts, Failure, Loading, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { PlatformIcon } from '../kit/platform-icon.tsx';
import { PLATFORMS, platformName, postName, postPath } from '../kit/platforms.ts';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { Foot } from '../kit/totals.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';

const Chart = lazy(() => import('../kit/chart.tsx'));
const SORTS = listChoices('list_content', 'sort');
type Post = Row<'list_content'>;

const PLATFORM_FILTER: Filter = {
  name: 'platform',
  label: 'Platform',
  kind: 'select',
  options: PLATFORMS.map((platform) => [platform, platformName(platform)]),
};

/** Why the last refresh failed. */
const REFRESH_ERRORS: Readonly<Record<string, string>> = {
  no_provider: 'No source of metrics is set up for this platform',
  unavailable: 'The platform did not answer',
  gone: 'The post is gone',
  interrupted: 'The refresh was interrupted',
};

const REFRESH_LABELS: Readonly<Record<string, string>> = {
  no_provider: 'No metrics',
  unavailable: 'No answer',
  gone: 'Post gone',
  interrupted: 'Interrupted',
};

/** A sum as short as the figures above it. */
const toSum = (value: number) => ({ short: compact(value), whole: number(value) });

/** The figures that a phone has no columns for. */
const describeBriefly = ({ posted_at, metrics: { engagement_rate: engagement } }: Post) =>
  [posted_at && day(posted_at), engagement !== null && `${aboutPercent(engagement)} engagement`]
    .filter(Boolean)
    .join(', ');

/** The order of posts that no head of a column shows. */
const ORDERS: Readonly<Record<string, string>> = { newest: 'last tracked first', oldest: 'first tracked first' };

function Detail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data, error, refetch } = useCall('get_content', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const refresh = useChange('refresh_content', ['list_content', 'get_content']);
  const remove = useChange('delete_content', ['list_content']);
  const post = data?.data;
  const views =
    post?.metrics_history.flatMap(({ date, views: value }) => (value === null ? [] : [{ date, value }])) ?? [];
  return (
    <Dialog
      title={post ? postName(post) : 'Post'}
      hint={
        post && (
          <a className="one-line" href={post.url} target="_blank" rel="noreferrer">
            {post.url}
          </a>
        )
      }
      isOpen={id !== undefined}
      onClose={onClose}
      isSide
    >
      {error && <Failure error={error} again={() => void refetch()} />}
      {!post && !error && <Loading />}
      {post && post.id === id && (
        <>
          <Stats>
            <Stat label="Views" value={number(post.metrics.views)} />
            <Stat label="Likes" value={number(post.metrics.likes)} />
            <Stat label="Comments" value={number(post.metrics.comments)} />
            <Stat
              label="Engagement"
              value={rate(post.metrics.engagement_rate)}
              why="Likes, comments, shares and saves per view."
            />
          </Stats>
          <Facts
            of={[
              ['Caption', post.caption],
              ['Creator', <CreatorName key="creator" of={post} />],
              ['Campaign', <CampaignName key="campaign" id={post.campaign_id} />],
              ['Platform', platformName(post.platform)],
              ['Posted', day(post.posted_at)],
              ['Tracked since', day(post.tracked_at)],
              ['Shares', number(post.metrics.shares)],
              ['Saves', number(post.metrics.saves)],
              [
                'Paid partnership label',
                post.paid_partnership === null ? 'Unknown' : post.paid_partnership ? 'Yes' : 'No',
              ],
              ['Last updated', <Ago key="updated" at={post.last_refreshed} />],
              ['Last error', post.refresh_error && (REFRESH_ERRORS[post.refresh_error] ?? words(post.refresh_error))],
            ]}
          />
          {views.length > 1 ? (
            <Suspense fallback={<Loading rows={3} />}>
              <Chart label="Views" points={views} show={number} by="reading" />
            </Suspense>
          ) : (
            <p className="hint">
              {views[0] ? `Views were read on one day so far, ${day(views[0].date)}.` : 'No views read yet.'}
            </p>
          )}
          {refresh.error && <Failure error={refresh.error} />}
          <div className="row">
            <Button
              needs="refresh_content"
              isBusy={refresh.isPending}
              onPress={() => refresh.mutate({ params: { id: post.id }, body: {} })}
            >
              Refresh
            </Button>
            <Confirm
              needs="delete_content"
              label="Stop tracking"
              title="Stop tracking this post?"
              action="Stop"
              onConfirm={async () => {
                await remove.mutateAsync({ params: { id: post.id } });
                onClose();
              }}
            >
              <p>Its metrics are deleted.</p>
            </Confirm>
          </div>
        </>
      )}
    </Dialog>
  );
}

export function Content() {
  const { get } = useFilters();
  const sort = findChoice(get('sort'), SORTS) ?? 'newest';
  const platform = findChoice(get('platform'), PLATFORMS);
  const query = { creator_email: get('creator_email'), campaign_id: get('campaign_id'), platform, sort };
  const list = useRows('list_content', query);
  const summary = useCall('list_content', { query: { ...query, sort: 'newest', limit: 1 } }).data?.summary;
  const making = useDialog('create');
  const panel = useOpened();
  // A time that all posts have is said once, above them.
  const [refreshed] = list.rows.map(({ last_refreshed }) => last_refreshed);
  const isAlike =
    list.rows.length > 1 &&
    list.rows.every((one) => one.refresh_error === null && one.status !== 'refreshing') &&
    new Set(list.rows.map(({ last_refreshed }) => ago(last_refreshed))).size === 1;
  const columns: readonly Column<Post>[] = [
    {
      head: 'Post',
      cell: (post) => (
        <Opener
          of={post}
          onOpen={() => panel.open(post.id)}
          second={
            <span className="caption">
              <PlatformIcon platform={post.platform} /> {post.caption ?? postPath(post.url)}
              <span className="narrow">{describeBriefly(post)}</span>
            </span>
          }
        >
          {postName(post)}
        </Opener>
      ),
    },
    { head: 'Campaign', cell: ({ campaign_id }) => <CampaignName id={campaign_id} />, isWide: true },
    {
      head: 'Views',
      cell: ({ metrics }) => compact(metrics.views),
      sort: { by: 'views', isOn: sort === 'views' },
      isNumber: true,
    },
    {
      head: 'Likes',
      cell: ({ metrics }) => compact(metrics.likes),
      sort: { by: 'likes', isOn: sort === 'likes' },
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Comments',
      cell: ({ metrics }) => compact(metrics.comments),
      sort: { by: 'comments', isOn: sort === 'comments' },
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Engagement',
      cell: ({ metrics }) => rate(metrics.engagement_rate),
      sort: { by: 'engagement', isOn: sort === 'engagement' },
      isNumber: true,
      isWide: true,
    },
    ...(isAlike
      ? []
      : ([
          {
            head: 'Last updated',
            cell: ({ last_refreshed, status, refresh_error: error }) => (
              <>
                <Ago at={last_refreshed} />
                {error && (
                  <span className="second late" title={REFRESH_ERRORS[error] ?? words(error)}>
                    {REFRESH_LABELS[error] ?? 'Failing'}
                  </span>
                )}
                {!error && status === 'refreshing' && <span className="second">{words(status)}</span>}
              </>
            ),
            isWide: true,
          },
        ] satisfies Column<Post>[])),
    { head: 'Posted', cell: ({ posted_at }) => <span className="unbroken">{day(posted_at)}</span>, isWide: true },
  ];
  return (
    <>
      <PageHead title="Content" hint="Posts you track, and how they perform.">
        <Download id="list_content" query={query} name="content.csv" />
        <Button needs="track_content" kind="primary" onPress={making.open}>
          Track a post
        </Button>
      </PageHead>
      <Filters of={[PLATFORM_FILTER, CREATOR_FILTER, CAMPAIGN_FILTER]} />
      <div className="posts">
        <Table
          caption="Content"
          noun="post"
          list={list}
          columns={columns}
          order={ORDERS[sort]}
          note={
            isAlike && (
              <>
                all updated <Ago at={refreshed} />
              </>
            )
          }
          empty={<Empty title="No posts yet">Add one by its URL.</Empty>}
          foot={
            summary ? (
              <Foot
                label="Totals of these posts"
                lines={[
                  {
                    count: counted(summary.content_count, 'post'),
                    sums: [
                      ['Views', toSum(summary.total_views)],
                      ['Likes', toSum(summary.total_likes)],
                      ['Comments', toSum(summary.total_comments)],
                    ],
                  },
                ]}
              />
            ) : null
          }
        />
      </div>
      <OperationDialog
        operation="track_content"
        title="Track a post"
        isOpen={making.isOpen}
        onClose={making.close}
        action="Track"
        start={{ creator_email: get('creator_email'), campaign_id: get('campaign_id') }}
        fields={[{ name: 'url', label: 'Post URL', kind: 'url' }, 'creator_email', 'campaign_id']}
        shown={['list_content']}
        onDone={making.close}
      />
      <Detail id={panel.id} onClose={panel.close} />
    </>
  );
}
