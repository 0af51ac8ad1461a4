import { useFirst } from '../call/use.ts';
import { number } from '../kit/format.ts';
import { Badge, Card, Failure, Loading } from '../kit/parts.tsx';
import { CampaignName } from './item-links.tsx';

const READ = { limit: 100 };
const formatCount = (count: number, one: string, many: string) =>
  count > 0 && `${number(count)} ${count === 1 ? one : many}`;

/** The campaigns that the creator applied to, or works on without an application. */
export function CreatorCampaigns({ email }: { email: string }) {
  const of = { creator_email: email };
  const applications = useFirst('list_applications', of, READ);
  const contracts = useFirst('list_contracts', of, READ);
  const links = useFirst('list_affiliate_links', of, READ);
  const posts = useFirst('list_content', of, READ);
  const all = [applications, contracts, links, posts];
  const failedQuery = all.find(({ error }) => error);
  if (failedQuery?.error) {
    return (
      <Card title="Campaigns">
        <Failure error={failedQuery.error} again={() => void failedQuery.refetch()} />
      </Card>
    );
  }
  const ids = new Set(all.flatMap(({ data }) => data?.data.flatMap(({ campaign_id: id }) => id ?? []) ?? []));
  const inCampaign = (id: string) => (one: { campaign_id: string | null }) => one.campaign_id === id;
  return (
    <Card title="Campaigns">
      {all.some(({ isPending }) => isPending) ? (
        <Loading rows={2} />
      ) : ids.size === 0 ? (
        <p className="hint">In no campaign yet.</p>
      ) : (
        <ul className="glance">
          {[...ids].map((id) => {
            const signedContracts = contracts.data?.data
              .filter(inCampaign(id))
              .filter(({ status }) => status === 'signed');
            const application = applications.data?.data.find(inCampaign(id));
            const work = [
              formatCount(signedContracts?.length ?? 0, 'signed contract', 'signed contracts'),
              formatCount(links.data?.data.filter(inCampaign(id)).length ?? 0, 'link or code', 'links and codes'),
              formatCount(posts.data?.data.filter(inCampaign(id)).length ?? 0, 'post', 'posts'),
            ].filter(Boolean);
            return (
              <li key={id} className="glance-row">
                <div>
                  <CampaignName id={id} />
                  <span className="second">{work.join(', ') || 'applied'}</span>
                </div>
                <Badge
                  state={work.length > 0 ? 'accepted' : (application?.status ?? 'accepted')}
                  isWaiting={work.length === 0 && application?.status === 'pending'}
                />
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}
