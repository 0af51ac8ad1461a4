import { Fragment } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { day, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { OperationForm } from '../kit/operation-form.tsx';
import { Badge, Button, Facts, Failure, IfMay, Loading } from '../kit/parts.tsx';
import { platformName } from '../kit/platforms.ts';
import { Time } from '../kit/time.tsx';
import { payText } from './compensation.ts';
import { termsText } from './contract-edit.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';

type Deliverable = Answer<'get_deliverable'>['data'];
type Submission = Deliverable['submissions'][number];

function OfContract({ id }: { id: string }) {
  const { data, error, refetch } = useCall('get_contract', { params: { id } });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={2} />;
  const { data: contract } = data;
  return (
    <section className="card" aria-label="Contract">
      <h4>{contract.title}</h4>
      <Facts
        of={[
          ['Contract', <Badge key="state" state={contract.expired_reason ?? contract.status} />],
          ['Signed', contract.signed_at && `${day(contract.signed_at)} by ${contract.signer_name ?? 'the creator'}`],
          ['Pay', payText(contract)],
          ['Rights', contract.usage_rights],
          ['Usage terms', termsText(contract.terms)],
        ]}
      />
    </section>
  );
}

const asList = (lines: readonly string[]) =>
  lines.length > 0 && (
    <ul className="points">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );

/** The briefs that the creator received for the same campaign, newest first. */
function OfBriefs({ of: { creator_email, campaign_id } }: { of: Deliverable }) {
  const list = useRows('list_briefs', {
    creator_email: creator_email ?? '',
    ...(campaign_id === null ? {} : { campaign_id }),
  });
  if (list.error) return <Failure error={list.error} again={list.again} />;
  return list.rows
    .filter((brief) => brief.status !== 'draft' && brief.campaign_id === campaign_id)
    .slice(0, 3)
    .map((brief) => (
      <section key={brief.id} className="card" aria-label="Brief">
        <h4>{brief.title}</h4>
        <Facts
          of={[
            ['Instructions', brief.instructions],
            ['Talking points', asList(brief.talking_points)],
            ['What to avoid', asList(brief.do_not)],
            ['Due', day(brief.due_date)],
          ]}
        />
      </section>
    ));
}

function File({ id }: { id: string }) {
  const { data, error, refetch } = useCall('get_asset', { params: { id } });
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={1} />;
  const { data: file } = data;
  return (
    <figure>
      {file.thumbnail_url && <img className="preview" src={file.thumbnail_url} alt={file.name} />}
      {/* biome-ignore lint/a11y/useMediaCaption: a creator's cut has none yet */}
      {file.type === 'video' && <video className="preview" src={file.url} controls preload="metadata" />}
      <figcaption>
        <a href={file.url} target="_blank" rel="noreferrer">
          {file.name}
        </a>
      </figcaption>
    </figure>
  );
}

function Version({
  of: { version, content_url, caption, submitted_at, is_late, feedback, asset_ids },
}: {
  of: Submission;
}) {
  return (
    <section className="card" aria-label={`Version ${version}`}>
      <h4>
        Version {version} {is_late && <span className="badge wait">Late</span>}
      </h4>
      {asset_ids.map((id) => (
        <File key={id} id={id} />
      ))}
      <Facts
        of={[
          ['Submitted', <Time key="submitted" at={submitted_at} />],
          [
            'Post',
            content_url && (
              <a key="content" href={content_url} target="_blank" rel="noreferrer">
                {content_url}
              </a>
            ),
          ],
          ['Caption', caption],
          ['Your feedback', feedback],
        ]}
      />
    </section>
  );
}

function Decide({ of: one, onClose }: { of: Deliverable; onClose: () => void }) {
  const update = useChange('update_deliverable', ['list_deliverables', 'get_deliverable']);
  const approve = () =>
    update.mutateAsync({ params: { id: one.id }, body: { status: 'approved' } }).then(onClose, () => undefined);
  return (
    <section className="card" aria-label="Your decision">
      {update.error && <Failure error={update.error} />}
      <OperationForm
        operation="update_deliverable"
        action="Request another version"
        kind="plain"
        params={{ id: one.id }}
        fields={[{ name: 'feedback', label: 'What should change', isRequired: true }]}
        omits={['due_date', 'track']}
        fixed={{ status: 'revision_requested' }}
        shown={['list_deliverables', 'get_deliverable']}
        onDone={onClose}
        beside={
          <Button kind="primary" isBusy={update.isPending} onPress={() => void approve()}>
            Approve version {one.version}
          </Button>
        }
      />
    </section>
  );
}

function Cancel({ id, onClose }: { id: string; onClose: () => void }) {
  const update = useChange('update_deliverable', ['list_deliverables', 'get_deliverable']);
  return (
    <Menu label="More actions for the deliverable" needs="update_deliverable">
      <Confirm
        label="Cancel deliverable"
        title="Cancel this deliverable?"
        action="Yes, cancel it"
        onConfirm={async () => {
          await update.mutateAsync({ params: { id }, body: { status: 'cancelled' } });
          onClose();
        }}
      >
        <p>The creator can no longer submit work for it.</p>
      </Confirm>
    </Menu>
  );
}

const CANCELLABLE: ReadonlySet<Deliverable['status']> = new Set([
  'pending',
  'in_progress',
  'submitted',
  'revision_requested',
  'declined',
]);

/** Shows the submissions, newest first, with the decision below the newest, and the agreement beside them. */
export function Review({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data, error, refetch } = useCall(
    'get_deliverable',
    { params: { id: id ?? '' } },
    { enabled: id !== undefined },
  );
  const one = data?.data.id === id ? data?.data : undefined;
  return (
    <Dialog
      title={one ? `${words(one.type)} by ${one.creator_name ?? one.creator_email}` : 'Deliverable'}
      isOpen={id !== undefined}
      onClose={onClose}
      isSide
      isBroad
    >
      {error && <Failure error={error} again={() => void refetch()} />}
      {!one && !error && <Loading />}
      {one && (
        <div className="beside">
          <div className="stack">
            <h3>Submitted</h3>
            {one.submissions.length === 0 && <p className="hint">Nothing submitted yet.</p>}
            {one.submissions.map((submission, place) => (
              <Fragment key={submission.version}>
                <Version of={submission} />
                {place === 0 && one.status === 'submitted' && (
                  <IfMay needs="update_deliverable">
                    <Decide of={one} onClose={onClose} />
                  </IfMay>
                )}
              </Fragment>
            ))}
          </div>
          <div className="stack">
            <div className="card-head">
              <h3>Agreed</h3>
              {CANCELLABLE.has(one.status) && <Cancel id={one.id} onClose={onClose} />}
            </div>
            <Facts
              of={[
                ['Status', <Badge key="state" state={one.status} />],
                ['Creator', <CreatorName key="creator" of={one} />],
                ['Campaign', <CampaignName key="campaign" id={one.campaign_id} />],
                [
                  'Content type',
                  [words(one.type), one.platform && platformName(one.platform)].filter(Boolean).join(', '),
                ],
                ['Instructions', one.instructions],
                ['Due', day(one.due_date)],
              ]}
            />
            <OfBriefs of={one} />
            {one.contract_id && <OfContract id={one.contract_id} />}
          </div>
        </div>
      )}
    </Dialog>
  );
}
