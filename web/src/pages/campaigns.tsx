import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { Editor } from '../kit/editor.tsx';
import { choiceOf, Filters, stateFilter, useFilters } from '../kit/filters.tsx';
import { FormDialog } from '../kit/form.tsx';
import { deadline, isPastDeadline, number, words } from '../kit/format.ts';
import { Badge, Button, Copy, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { DEADLINE_HINT, EditCampaign, STATES } from './campaign-edit.tsx';
import { compensationFields, compensationIn } from './compensation.ts';

type Campaign = Row<'list_campaigns'>;

/** When applications close, and whether they have. */
function Deadline({ of: { deadline: at, status } }: { of: Pick<Campaign, 'deadline' | 'status'> }) {
  return (
    <span className="row">
      {deadline(at)}
      {status === 'active' && isPastDeadline(at) && <span className="badge quiet">Closed</span>}
    </span>
  );
}

function Detail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data, error, refetch } = useCall('get_campaign', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const campaign = data?.data;
  return (
    <Dialog title={campaign?.title ?? 'Campaign'} isOpen={id !== undefined} onClose={onClose} isSide>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!campaign && !error && <Loading />}
      {campaign && campaign.id === id && (
        <>
          <Facts
            of={[
              ['Status', <Badge key="state" state={campaign.status} />],
              ['Type', words(campaign.campaign_type)],
              ['Compensation', campaign.compensation_label],
              ['Applicants', number(campaign.applicant_count)],
              ['Hired', number(campaign.hired_count)],
              ['Deadline', <Deadline key="deadline" of={campaign} />],
              ['Description', campaign.description],
              ['Platforms', campaign.requirements.platforms?.map(words).join(', ')],
              ['Minimum followers', number(campaign.requirements.min_followers)],
              ['Content type', campaign.requirements.content_types?.map(words).join(', ')],
              ['Number of deliverables', number(campaign.requirements.deliverables_count)],
            ]}
          />
          <div className="row">
            <Editor item={campaign} needs="update_campaign" kind="primary">
              {(editing) => <EditCampaign {...editing} />}
            </Editor>
            <Link className="button plain" to="/applications" search={{ campaign_id: campaign.id }}>
              Applications
            </Link>
            <a className="button plain" href={campaign.apply_url} target="_blank" rel="noreferrer">
              Open the apply page
            </a>
            <Copy text={campaign.apply_url} label="Copy the apply page’s address" />
          </div>
        </>
      )}
    </Dialog>
  );
}

export function Campaigns() {
  const { get } = useFilters();
  const query = { status: choiceOf(get('status'), STATES) };
  const list = useRows('list_campaigns', query);
  const create = useChange('create_campaign', ['list_campaigns']);
  const [isMaking, setMaking] = useState(false);
  const [shown, setShown] = useState<string>();
  const columns: readonly Column<Campaign>[] = [
    {
      head: 'Campaign',
      cell: ({ id, title, compensation_label }) => (
        <Opener onOpen={() => setShown(id)} second={compensation_label}>
          {title}
        </Opener>
      ),
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Applicants', cell: ({ applicant_count }) => number(applicant_count), isNumber: true },
    { head: 'Hired', cell: ({ hired_count }) => number(hired_count), isNumber: true, isWide: true },
    { head: 'Deadline', cell: (campaign) => <Deadline of={campaign} />, isWide: true },
  ];
  return (
    <>
      <PageHead title="Campaigns" hint="Work you want creators for. Each campaign has a page where creators apply.">
        <Download id="list_campaigns" query={query} name="campaigns.csv" />
        <Button needs="create_campaign" kind="primary" onPress={() => setMaking(true)}>
          Create a campaign
        </Button>
      </PageHead>
      <Filters of={[stateFilter(STATES)]} />
      <Table
        caption="Campaigns"
        list={list}
        columns={columns}
        empty={<Empty title="No campaigns here">Create one and send creators the link to its page.</Empty>}
      />
      <FormDialog
        title="Create a campaign"
        isOpen={isMaking}
        onClose={() => setMaking(false)}
        action="Create the campaign"
        fields={[
          { name: 'name', label: 'Name', isRequired: true },
          { name: 'description', label: 'Description', kind: 'textarea', hint: 'Shown on the apply page.' },
          ...compensationFields('Compensation', null),
          { name: 'deadline', label: 'Deadline', kind: 'date', hint: DEADLINE_HINT },
          {
            name: 'status',
            label: 'Status',
            kind: 'select',
            value: 'active',
            options: STATES.map((state) => [state, words(state)]),
          },
        ]}
        onSubmit={async (values) => {
          await create.mutateAsync({
            body: {
              name: values.text('name'),
              description: values.orNull('description'),
              compensation: compensationIn(values),
              deadline: values.orNull('deadline'),
              status: values.choice('status', STATES),
            },
          });
          setMaking(false);
        }}
      />
      <Detail id={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
