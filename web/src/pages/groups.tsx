import type { Row } from '../call/call.ts';
import { useCall, useChange, useFirst, useRows } from '../call/use.ts';
import { CreatorFaces } from '../kit/creator-face.tsx';
import { Detail } from '../kit/detail.tsx';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { sortIn, useFilters } from '../kit/filters.tsx';
import { counted, day, number } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog, OperationForm } from '../kit/operation-form.tsx';
import { Button, Card, Empty, Facts, IfMay, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Foot } from '../kit/totals.tsx';
import { BudgetBars } from './budget-bars.tsx';
import { type Group, Members, SHOWN } from './group-members.tsx';
import { useSold } from './sold.ts';
import { NEW_ONLY, TermsButton } from './terms-dialog.tsx';
import { useDeal } from './terms-editor.tsx';

const NO_TERMS = 'No terms of its own: those of the campaign or the brand apply.';
/** The sentence that says what the figures of a group count. */
const SOLD = 'All time: paid orders won by the creators who are in the group now, less refunds.';

const DEFAULT = { name: 'default', label: 'Add new creators to this group automatically' } as const;
const SETTINGS = [
  DEFAULT,
  { name: 'hold_days', hint: NEW_ONLY },
  { name: 'attribution_days', hint: NEW_ONLY },
] as const;

function CreateGroup({ onClose, onMade }: { onClose: () => void; onMade: (id: string) => void }) {
  const deal = useDeal();
  return (
    <OperationForm
      operation="create_group"
      action="Create the group"
      onCancel={onClose}
      fields={['name', ...SETTINGS]}
      omits={['terms']}
      own={deal}
      shown={SHOWN}
      onDone={({ data }) => onMade(data.id)}
    />
  );
}

function EditGroup({ item: group, isOpen, onClose }: Editing<Group>) {
  return (
    <OperationDialog
      operation="update_group"
      title={`Edit ${group.name}`}
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: group.id }}
      item={group}
      fields={['name', DEFAULT]}
      omits={['terms', 'hold_days', 'attribution_days', 'notify']}
      shown={SHOWN}
      onDone={onClose}
    />
  );
}

const daysText = (days: number | null) => (days === null ? 'The usual' : `${number(days)} days`);

/** All that decides what the creators of a group earn. */
function Deal({ of: group }: { of: Group }) {
  return (
    <Card title="Deal" action={<TermsButton of={{ place: 'group', ...group }} text="Edit" />}>
      <Facts
        of={[
          ['Rate', group.terms_summary ?? NO_TERMS],
          ['Review period', daysText(group.hold_days)],
          ['Attribution window', daysText(group.attribution_days)],
          ['Budget', group.budget.length > 0 && <BudgetBars key="budget" of={group.budget} />],
        ]}
      />
    </Card>
  );
}

function More({ of: group, onDeleted }: { of: Group; onDeleted: () => void }) {
  const remove = useChange('delete_group', ['list_groups']);
  return (
    <Menu label="More actions for the group" needs="update_group">
      <Editor item={group} needs="update_group" text="Name and new creators">
        {(editing) => <EditGroup {...editing} />}
      </Editor>
      <Confirm
        needs="delete_group"
        label="Delete the group"
        title={`Delete ${group.name}?`}
        action="Delete"
        onConfirm={async () => {
          await remove.mutateAsync({ params: { id: group.id } });
          onDeleted();
        }}
      >
        <p>A group with creators cannot be deleted. Orders that its terms decided keep them.</p>
      </Confirm>
    </Menu>
  );
}

function GroupPanel({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_group', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const sold = useSold({ by: 'group' });
  return (
    <Detail id={id} onClose={onClose} query={query} title={(group) => group?.name ?? 'Group'}>
      {(group) => (
        <>
          <div className="apart">
            <p className="hint">
              {group.default ? 'New creators are added automatically.' : 'New creators are added by hand.'} Created{' '}
              {day(group.created_at)}. The figures are of all time.
            </p>
            <More of={group} onDeleted={onClose} />
          </div>
          <Stats isBrief>
            <Stat label="Creators" value={number(group.creators)} />
            <Stat label="Sales" value={sold.ofKey(group.id).sales} why={SOLD} />
            <Stat label="Commission" value={sold.ofKey(group.id).commission} />
          </Stats>
          <Deal of={group} />
          <Members of={group} />
        </>
      )}
    </Detail>
  );
}

const FACES = 4;

/** The number of a group's creators, beside the faces of the newest. */
function Crowd({ of: { id, creators } }: { of: Row<'list_groups'> }) {
  const isEnabled = creators > 0;
  const { data } = useFirst('list_group_creators', { present: true }, { params: { id }, limit: FACES, isEnabled });
  return (
    <span className="crowd">
      <CreatorFaces of={data?.data ?? []} />
      {counted(creators, 'creator')}
    </span>
  );
}

const listColumns = (
  open: (id: string) => void,
  sold: ReturnType<typeof useSold>,
  hasBudget: boolean,
): readonly Column<Row<'list_groups'>>[] => [
  {
    head: 'Group',
    cell: ({ id, name, default: isDefault, terms_summary }) => (
      <Opener
        onOpen={() => open(id)}
        second={
          <>
            {isDefault && 'For new creators'}
            <span className="narrow">{terms_summary ?? NO_TERMS}</span>
          </>
        }
      >
        {name}
      </Opener>
    ),
  },
  {
    head: 'Deal',
    isWide: true,
    cell: ({ terms_summary }) => (
      <span className={terms_summary ? 'sentence' : 'muted'}>{terms_summary ?? NO_TERMS}</span>
    ),
  },
  { head: 'Creators', cell: (group) => <Crowd of={group} />, chip: 'value' },
  { head: 'Sales', cell: ({ id }) => sold.ofKey(id).sales, isNumber: true },
  { head: 'Commission', cell: ({ id }) => sold.ofKey(id).commission, isNumber: true, isWide: true },
  ...(hasBudget
    ? [
        {
          head: 'Budget',
          isWide: true,
          cell: ({ budget }: Row<'list_groups'>) => (budget.length > 0 ? <BudgetBars of={budget} /> : '–'),
        },
      ]
    : []),
  { head: 'Created', cell: ({ created_at }) => day(created_at), isWide: true, isOrder: true },
];

/** Creators who share a deal. */
export function Groups() {
  const { get } = useFilters();
  const query = { sort: sortIn(get) };
  const list = useRows('list_groups', query);
  const panel = useOpened();
  const making = useDialog('create');
  const sold = useSold({ by: 'group' });
  const { sales, commission } = sold.ofAll();
  return (
    <>
      <PageHead title="Groups" hint="Creators who share a deal. Sales and commission are of all time.">
        <Download id="list_groups" query={query} name="groups.csv" />
        <Button needs="create_group" kind="primary" onPress={making.open}>
          Create a group
        </Button>
      </PageHead>
      <Table
        caption="Groups"
        noun="group"
        list={list}
        columns={listColumns(
          panel.open,
          sold,
          list.rows.some(({ budget }) => budget.length > 0),
        )}
        empty={<Empty title="No groups yet">Create one for creators who are paid alike, such as ambassadors.</Empty>}
        foot={
          (list.total ?? 0) > 1 ? (
            <Foot
              label="Totals of these groups"
              lines={[
                {
                  count: counted(list.total ?? 0, 'group'),
                  sums: [
                    ['Sales', sales],
                    ['Commission', commission],
                  ],
                },
              ]}
              note={SOLD}
            />
          ) : undefined
        }
      />
      <IfMay needs="create_group">
        <Dialog title="Create a group" isOpen={making.isOpen} onClose={making.close}>
          {making.isOpen && <CreateGroup onClose={making.close} onMade={panel.open} />}
        </Dialog>
      </IfMay>
      <GroupPanel id={panel.id} onClose={panel.close} />
    </>
  );
}
