import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { listEnum } from '../kit/every.ts';
import { findChoice, useFilters } from '../kit/filters.tsx';
import { campaignField, creatorField } from '../kit/form.tsx';
import { day, words } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { Badge } from '../kit/parts.tsx';
import { type Column, Opener } from '../kit/table.tsx';
import { Due } from '../kit/time.tsx';
import { useWorkQuery, WorkPage } from '../kit/work.tsx';
import { Review } from './deliverable-review.tsx';
import { CampaignName } from './item-links.tsx';
import { platformName } from './platforms.ts';
import { useUnsigned } from './unsigned.ts';

const STATES = listEnum<Row<'list_deliverables'>['status']>()([
  'pending',
  'in_progress',
  'submitted',
  'approved',
  'revision_requested',
  'declined',
  'cancelled',
]);
type Deliverable = Row<'list_deliverables'>;
/** The creator has to act. */
const OWED: ReadonlySet<Deliverable['status']> = new Set(['pending', 'in_progress', 'revision_requested']);

export function Deliverables() {
  const query = useWorkQuery(STATES);
  const sort = findChoice(useFilters().get('sort'), ['newest', 'oldest', 'due']) ?? 'due';
  const list = useRows('list_deliverables', { ...query, sort });
  const create = useChange('create_deliverable', ['list_deliverables']);
  const opened = useOpened();
  const unsigned = useUnsigned();
  const isOwed = ({ contract_id, status }: Deliverable) => !unsigned.has(contract_id) && OWED.has(status);
  const columns: readonly Column<Deliverable>[] = [
    {
      head: 'Deliverable',
      cell: ({ id, type, platform, creator_name, creator_email }) => (
        <Opener
          of={{ creator_name, creator_email }}
          onOpen={() => opened.open(id)}
          second={[creator_name ?? creator_email, platform && platformName(platform)].filter(Boolean).join(', ')}
        >
          {words(type)}
        </Opener>
      ),
    },
    { head: 'Campaign', cell: ({ campaign_id }) => <CampaignName id={campaign_id} />, isWide: true },
    {
      head: 'Status',
      cell: (row) => (
        <>
          <Badge state={(row.status === 'pending' && unsigned.get(row.contract_id)) || row.status} />
          {row.due_date && (
            <div className="narrow">
              <span className="second">
                <Due at={row.due_date} isDone={!isOwed(row)} />
              </span>
            </div>
          )}
        </>
      ),
    },
    {
      head: 'Due',
      isWide: true,
      sort: { by: 'due', isOn: sort === 'due', isAscending: true },
      cell: (row) => <Due at={row.due_date} isDone={!isOwed(row)} />,
    },
    { head: 'Submitted', cell: ({ submitted_at }) => day(submitted_at), isWide: true },
    {
      head: 'Created',
      isWide: true,
      sort: { by: 'newest', isOn: sort === 'newest' },
      cell: ({ created_at }) => day(created_at),
    },
  ];
  return (
    <WorkPage
      title="Deliverables"
      hint="What creators owe you and what they sent."
      states={STATES}
      list={list}
      columns={columns}
      empty="A contract’s deliverables appear here, and those that you request."
      create={{
        needs: 'create_deliverable',
        title: 'Request a deliverable',
        hint: 'For work outside a contract. The creator is mailed a page to submit it on.',
        action: 'Request',
        fields: [
          creatorField(query.creator_email),
          campaignField(query.campaign_id),
          { name: 'type', label: 'Content type', isRequired: true, hint: 'For example, “reel”.' },
          { name: 'instructions', label: 'Instructions', kind: 'textarea' },
          { name: 'due_date', label: 'Due date', kind: 'date' },
        ],
        onSubmit: async (values, close) => {
          await create.mutateAsync({
            body: {
              creator_email: values.text('creator_email'),
              campaign_id: values.orNull('campaign_id'),
              type: values.text('type'),
              instructions: values.orNull('instructions'),
              due_date: values.orNull('due_date'),
            },
          });
          close();
        },
      }}
    >
      <Review id={opened.id} onClose={opened.close} />
    </WorkPage>
  );
}
