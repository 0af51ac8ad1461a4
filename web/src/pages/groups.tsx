import type { Answer, Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Detail } from '../kit/detail.tsx';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { sortIn, useFilters } from '../kit/filters.tsx';
import { day, number } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog, OperationForm } from '../kit/operation-form.tsx';
import { Button, Card, Empty, Facts, IfMay, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { BudgetBars } from './budget-bars.tsx';
import { CreatorName } from './item-links.tsx';
import { TermsButton } from './terms-dialog.tsx';
import { useTermsChoice } from './terms-editor.tsx';

type Group = Answer<'get_group'>['data'];
type GroupMember = Row<'list_group_creators'>;

const NO_TERMS = 'No terms of its own: those of the campaign or the brand apply.';
const SHOWN = ['list_groups', 'get_group', 'list_group_creators'] as const;

const SETTINGS = [
  { name: 'default', label: 'Add new creators to this group automatically' },
  { name: 'hold_days', hint: 'Applies to new links and codes only.' },
  { name: 'attribution_days', hint: 'Applies to new links and codes only.' },
] as const;

function CreateGroup({ onClose, onMade }: { onClose: () => void; onMade: (id: string) => void }) {
  const { choice, own } = useTermsChoice('Deal', 'Use campaign or brand terms');
  return (
    <OperationForm
      operation="create_group"
      action="Create the group"
      onCancel={onClose}
      fields={['name', ...SETTINGS]}
      omits={['terms']}
      own={{
        name: 'terms',
        read: () => own?.read(),
        render: (problems) => (
          <>
            {choice}
            {own?.render(problems)}
          </>
        ),
      }}
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
      fields={['name', ...SETTINGS]}
      omits={['terms']}
      shown={SHOWN}
      onDone={onClose}
    />
  );
}

function AddMembers({ of: { id, name } }: { of: Group }) {
  const panel = useOpened('edit');
  const say = useSay();
  return (
    <>
      <Button needs="add_group_creators" kind="primary" onPress={() => panel.open('members')}>
        Add creators
      </Button>
      <OperationDialog
        operation="add_group_creators"
        title={`Add creators to ${name}`}
        hint="Creators on the roster. Those of another group move to this one."
        isOpen={panel.id === 'members'}
        onClose={panel.close}
        action="Add"
        params={{ id }}
        fields={[
          {
            name: 'creator_emails',
            label: 'Email addresses',
            kind: 'textarea',
            hint: 'One per line, or separate with commas.',
          },
          {
            name: 'links',
            label: 'Links and codes with terms of their own',
            labels: { keep: 'Keep them', inherit: 'Take the terms of the group' },
          },
        ]}
        shown={[...SHOWN, 'list_affiliate_links', 'get_affiliate_link']}
        onDone={({ data: { moved, unchanged, failed } }) => {
          panel.close();
          const parts = [
            `${number(moved.length)} added`,
            unchanged.length > 0 && `${number(unchanged.length)} were in it already`,
            failed.length > 0 && `not on the roster: ${failed.map(({ creator_email }) => creator_email).join(', ')}`,
          ];
          say(`${parts.filter(Boolean).join('; ')}.`);
        }}
      />
    </>
  );
}

function Members({ of: group }: { of: Group }) {
  const list = useRows('list_group_creators', { present: true }, { params: { id: group.id } });
  const remove = useChange('remove_group_creator', SHOWN);
  const columns: readonly Column<GroupMember>[] = [
    {
      head: 'Creator',
      cell: (member) => (
        <div className="person">
          <CreatorFace name={member.creator_name ?? member.creator_email ?? '?'} email={member.creator_email} />
          <CreatorName of={member} />
        </div>
      ),
    },
    { head: 'Since', cell: ({ since }) => day(since) },
    {
      head: 'Actions',
      needs: 'remove_group_creator',
      cell: ({ creator_email, creator_name }) => (
        <Confirm
          needs="remove_group_creator"
          label="Remove"
          isQuiet
          title={`Remove ${creator_name ?? creator_email} from ${group.name}?`}
          action="Remove"
          onConfirm={() =>
            remove.mutateAsync({ params: { id: group.id }, query: { creator_email: creator_email ?? '' } })
          }
        >
          <p>Links and codes without terms of their own take those of the campaign or the brand from now on.</p>
        </Confirm>
      ),
    },
  ];
  return (
    <Card title="Creators" action={<AddMembers of={group} />}>
      <Table
        caption={`Creators in ${group.name}`}
        noun="creator"
        list={list}
        columns={columns}
        usually={3}
        empty={<Empty title="Nobody yet">Add creators of the roster by their email addresses.</Empty>}
      />
    </Card>
  );
}

function GroupPanel({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_group', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const remove = useChange('delete_group', ['list_groups']);
  return (
    <Detail id={id} onClose={onClose} query={query} title={(group) => group?.name ?? 'Group'}>
      {(group) => (
        <>
          <p className="note-box">{group.terms_summary ?? NO_TERMS}</p>
          <BudgetBars of={group.budget} />
          <div className="row">
            <TermsButton of={{ place: 'group', ...group }} />
            <Editor item={group} needs="update_group">
              {(editing) => <EditGroup {...editing} />}
            </Editor>
            <Confirm
              needs="delete_group"
              label="Delete"
              isQuiet
              title={`Delete ${group.name}?`}
              action="Delete"
              onConfirm={async () => {
                await remove.mutateAsync({ params: { id: group.id } });
                onClose();
              }}
            >
              <p>A group with creators cannot be deleted. Orders that its terms decided keep them.</p>
            </Confirm>
          </div>
          <Facts
            of={[
              ['New creators', group.default ? 'Added automatically' : 'Added manually'],
              ['Review period', group.hold_days === null ? 'The usual' : `${number(group.hold_days)} days`],
              [
                'Attribution window',
                group.attribution_days === null ? 'The usual' : `${number(group.attribution_days)} days`,
              ],
              ['Created', day(group.created_at)],
            ]}
          />
          <Members of={group} />
        </>
      )}
    </Detail>
  );
}

const listColumns = (open: (id: string) => void): readonly Column<Row<'list_groups'>>[] => [
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
  { head: 'Creators', cell: ({ creators }) => number(creators), isNumber: true },
  {
    head: 'Budget',
    isWide: true,
    cell: ({ budget }) => (budget.length > 0 ? <BudgetBars of={budget} /> : '–'),
  },
  { head: 'Created', cell: ({ created_at }) => day(created_at), isWide: true, isOrder: true },
];

/** Creators who share a deal. */
export function Groups() {
  const { get } = useFilters();
  const query = { sort: sortIn(get) };
  const list = useRows('list_groups', query);
  const panel = useOpened();
  const making = useDialog('create');
  return (
    <>
      <PageHead
        title="Groups"
        hint="Creators who share a deal. It applies to links and codes without terms of their own."
      >
        <Download id="list_groups" query={query} name="groups.csv" />
        <Button needs="create_group" kind="primary" onPress={making.open}>
          Create a group
        </Button>
      </PageHead>
      <Table
        caption="Groups"
        noun="group"
        list={list}
        columns={listColumns(panel.open)}
        empty={<Empty title="No groups yet">Create one for creators who are paid alike, such as ambassadors.</Empty>}
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
