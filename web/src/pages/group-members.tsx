import type { Answer, Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { counted, number } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Card, Empty, oneLine } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { CreatorName } from './item-links.tsx';
import { useSold } from './sold.ts';

export type Group = Answer<'get_group'>['data'];
type GroupMember = Row<'list_group_creators'>;

/** The operations whose answers show a group or its creators. */
export const SHOWN = ['list_groups', 'get_group', 'list_group_creators'] as const;

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

function RemoveMember({ member, group }: { member: GroupMember; group: Group }) {
  const { creator_email: email, creator_name: name } = member;
  const remove = useChange('remove_group_creator', SHOWN);
  return (
    <Menu label={`More actions for ${name ?? email}`} needs="remove_group_creator">
      <Confirm
        needs="remove_group_creator"
        label="Remove from the group"
        title={`Remove ${name ?? email} from ${group.name}?`}
        action="Remove"
        onConfirm={() => remove.mutateAsync({ params: { id: group.id }, query: { creator_email: email ?? '' } })}
      >
        <p>Links and codes without terms of their own take those of the campaign or the brand from now on.</p>
      </Confirm>
    </Menu>
  );
}

/** The creators of a group, with the sales of each. */
export function Members({ of: group }: { of: Group }) {
  const list = useRows('list_group_creators', { present: true }, { params: { id: group.id } });
  const sold = useSold({ by: 'creator', group: group.id });
  const columns: readonly Column<GroupMember>[] = [
    {
      head: 'Creator',
      cell: (member) => (
        <div className="person">
          <CreatorFace name={member.creator_name ?? member.creator_email ?? '?'} email={member.creator_email} />
          <div>
            <CreatorName of={member} />
            {member.creator_name && <span {...oneLine(member.creator_email, 'second')}>{member.creator_email}</span>}
          </div>
        </div>
      ),
    },
    {
      head: 'Sales',
      isNumber: true,
      cell: ({ creator_id }) => {
        const { sales, commission } = sold.ofKey(creator_id);
        return (
          <>
            {sales}
            {/\d/.test(commission) && (
              <span className="narrow">
                <span className="second">{commission} earned</span>
              </span>
            )}
          </>
        );
      },
    },
    { head: 'Commission', isNumber: true, isWide: true, cell: ({ creator_id }) => sold.ofKey(creator_id).commission },
    {
      head: 'Actions',
      needs: 'remove_group_creator',
      cell: (member) => <RemoveMember member={member} group={group} />,
    },
  ];
  return (
    <Card title={counted(list.total ?? group.creators, 'creator')} action={<AddMembers of={group} />}>
      <Table
        caption={`Creators in ${group.name}`}
        noun="creator"
        list={list}
        columns={columns}
        isBare
        usually={3}
        empty={<Empty title="Nobody yet">Add creators of the roster by their email addresses.</Empty>}
      />
    </Card>
  );
}
