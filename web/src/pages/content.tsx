import { lazy, Suspense, useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { CREATOR_FILTER, Filters, useFilters } from '../kit/filters.tsx';
import { FormDialog } from '../kit/form.tsx';
import { ago, compact, day, number, percent, words } from '../kit/format.ts';
import { Badge, Button, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';

const Chart = lazy(() => import('../kit/chart.tsx'));
type Post = Row<'list_content'>;

function Detail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data, error, refetch } = useCall('get_content', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const refresh = useChange('refresh_content', ['list_content', 'get_content']);
  const remove = useChange('delete_content', ['list_content']);
  const post = data?.data;
  const views =
    post?.metrics_history.flatMap(({ date, views: value }) => (value === null ? [] : [{ date, value }])) ?? [];
  return (
    <Dialog title="Post" hint={post?.url} isOpen={id !== undefined} onClose={onClose} isSide>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!post && !error && <Loading />}
      {post && post.id === id && (
        <>
          <Facts
            of={[
              ['Creator', post.creator_name ?? post.creator_email],
              ['Platform', words(post.platform)],
              ['Posted', day(post.posted_at)],
              ['Views', number(post.metrics.views)],
              ['Likes', number(post.metrics.likes)],
              ['Comments', number(post.metrics.comments)],
              ['Shares', number(post.metrics.shares)],
              ['Engagement', percent(post.metrics.engagement_rate)],
              [
                'Paid partnership label',
                post.paid_partnership === null ? 'Unknown' : post.paid_partnership ? 'Yes' : 'No',
              ],
              ['Last updated', ago(post.last_refreshed)],
              ['Last error', post.refresh_error],
              ['Caption', post.caption],
            ]}
          />
          {views.length > 1 && (
            <Suspense fallback={<Loading rows={3} />}>
              <Chart label="Views" points={views} show={number} />
            </Suspense>
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
  const query = { creator_email: get('creator_email') };
  const list = useRows('list_content', query);
  const track = useChange('track_content', ['list_content']);
  const [isAdding, setAdding] = useState(false);
  const [shown, setShown] = useState<string>();
  const columns: readonly Column<Post>[] = [
    {
      head: 'Post',
      cell: ({ id, url, creator_name, creator_email }) => (
        <Opener onOpen={() => setShown(id)} second={creator_name ?? creator_email}>
          {url.replace(/^https?:\/\/(www\.)?/, '')}
        </Opener>
      ),
    },
    { head: 'Views', cell: (post) => compact(post.metrics.views), isNumber: true },
    { head: 'Likes', cell: (post) => compact(post.metrics.likes), isNumber: true, isWide: true },
    { head: 'Comments', cell: (post) => compact(post.metrics.comments), isNumber: true, isWide: true },
    {
      head: 'Status',
      cell: ({ status, refresh_error }) => <Badge state={refresh_error ? 'failing' : status} />,
      isWide: true,
    },
    { head: 'Last updated', cell: ({ last_refreshed }) => ago(last_refreshed), isWide: true },
  ];
  return (
    <>
      <PageHead title="Content" hint="Posts you track, with their metrics by day.">
        <Download id="list_content" query={query} name="content.csv" />
        <Button needs="track_content" kind="primary" onPress={() => setAdding(true)}>
          Track a post
        </Button>
      </PageHead>
      <Filters of={[CREATOR_FILTER]} />
      <Table
        caption="Content"
        list={list}
        columns={columns}
        empty={<Empty title="No posts yet">Add one by its URL.</Empty>}
      />
      <FormDialog
        title="Track a post"
        isOpen={isAdding}
        onClose={() => setAdding(false)}
        action="Track"
        fields={[
          { name: 'url', label: 'Post URL', kind: 'url', isRequired: true },
          { name: 'creator_email', label: 'Creator’s e-mail', kind: 'email' },
        ]}
        onSubmit={async (values) => {
          await track.mutateAsync({ body: { url: values.text('url'), creator_email: values.orNull('creator_email') } });
          setAdding(false);
        }}
      />
      <Detail id={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
