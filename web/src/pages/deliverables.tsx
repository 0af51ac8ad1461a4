import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useRows } from '../call/use.ts';
import { findChoice, useFilters } from '../kit/filters.tsx';
import { day, words } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { Badge, Button } from '../kit/parts.tsx';
import { platformName } from '../kit/platforms.ts';
import { type Column, Opener } from '../kit/table.tsx';
import { Due } from '../kit/time.tsx';
import { useWorkQuery, WorkPage } from '../kit/work.tsx';
import { Review } from './deliverable-review.tsx';
import { CampaignName, CampaignTitle } from './item-links.tsx';
import { useUnsigned } from './unsigned.ts';

const STATES = listChoices('list_deliverables', 'status');
type Deliverable = Row<'list_deliverables'>;
/** The creator has to act. */
const OWED: ReadonlySet<Deliverable['status']> = new Set(['pending', 'in_progress', 'revision_requested']);

export function Deliverables() {
  const query = useWorkQuery(STATES);
  const sort = findChoice(useFilters().get('sort'), ['newest', 'oldest', 'due']) ?? 'waiting';
  const list = useRows('list_deliverables', { ...query, sort });
  const panel = useOpened();
  const making = useDialog('create');
  const unsignedContracts = useUnsigned();
  const isOwed = ({ contract_id, status }: Deliverable) => !unsignedContracts.has(contract_id) && OWED.has(status);
  const columns: readonly Column<Deliverable>[] = [
    {
      head: 'Deliverable',
      cell: ({ id, type, platform, campaign_id, creator_name, creator_email }) => (
        <Opener
          of={{ creator_name, creator_email }}
          onOpen={() => panel.open(id)}
          second={
            <>
              {creator_name ?? creator_email}
              {platform && (
                <span className="wide">
                  {(creator_name ?? creator_email) && ', '}
                  {platformName(platform)}
                </span>
              )}
              <span className="narrow">
                <CampaignTitle id={campaign_id} />
              </span>
            </>
          }
        >
          {words(type)}
        </Opener>
      ),
    },
    { head: 'Campaign', cell: ({ campaign_id }) => <CampaignName id={campaign_id} />, isWide: true },
    {
      head: 'Status',
      sort: { by: 'waiting', isOn: sort === 'waiting' },
      cell: (row) => (
        <>
          <Badge state={(row.status === 'pending' && unsignedContracts.get(row.contract_id)) || row.status} />
          {row.status === 'submitted' && (
            <div className="narrow">
              <div className="row">
                <Button needs="update_deliverable" onPress={() => panel.open(row.id)}>
                  Review
                </Button>
              </div>
            </div>
          )}
        </>
      ),
    },
    {
      head: 'Due',
      chip: 'named',
      sort: { by: 'due', isOn: sort === 'due', isAscending: true },
      cell: (row) => (row.due_date === null ? '–' : <Due at={row.due_date} isDone={!isOwed(row)} />),
    },
    { head: 'Submitted', cell: ({ submitted_at }) => day(submitted_at), isWide: true },
    {
      head: 'Created',
      isWide: true,
      sort: { by: 'newest', isOn: sort === 'newest' },
      cell: ({ created_at }) => day(created_at),
    },
    {
      head: 'Actions',
      isWide: true,
      needs: 'update_deliverable',
      cell: ({ id, status }) => status === 'submitted' && <Button onPress={() => panel.open(id)}>Review</Button>,
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
        operation: 'create_deliverable',
        title: 'Request a deliverable',
        hint: 'For work outside a contract. The creator is emailed a page to submit it on.',
        action: 'Request',
        start: { creator_email: query.creator_email, campaign_id: query.campaign_id },
        fields: [
          'creator_email',
          'campaign_id',
          { name: 'type', label: 'Content type', hint: 'For example, “reel”.' },
          'platform',
          'instructions',
          'due_date',
        ],
        omits: ['contract_id'],
        shown: ['list_deliverables'],
        onDone: making.close,
      }}
    >
      <Review id={panel.id} onClose={panel.close} />
    </WorkPage>
  );
}
