import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { Face } from '../kit/face.tsx';
import { day, words } from '../kit/format.ts';
import { useDialog } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Card, Copy, Empty, Facts, oneLine, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';

const ROLE = {
  name: 'role',
  labels: {
    viewer: 'Viewer: read only',
    manager: 'Manager: all of the work, but not people',
    owner: 'Owner: everything',
  },
} as const;
const ROLES_MAY = [
  ['Owner', 'Can do everything.'],
  [
    'Manager',
    'Can change creators, campaigns, contracts, links, payouts, settings, API keys, and what agents may do.\nCannot invite or change people, connect an agent, decide where a creator is paid, answer privacy requests, see directory imports or remove the sample.',
  ],
  [
    'Viewer',
    'Can view everything except privacy requests and directory imports.\nCannot change anything: the buttons for it are not shown.',
  ],
] as const;
type Person = Row<'list_people'>;

function EditPerson({ item: person, isOpen, onClose }: Editing<Person>) {
  return (
    <OperationDialog
      operation="update_person"
      title={`Edit ${person.name ?? person.email}`}
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: person.id }}
      item={person}
      fields={['name', ROLE]}
      shown={['list_people', 'get_session']}
      onDone={onClose}
    />
  );
}

export function People() {
  const list = useRows('list_people', {});
  const me = useCall('get_session').data?.data.person;
  const remove = useChange('remove_person', ['list_people']);
  const inviting = useDialog('invite');
  const [link, setLink] = useState<string>();
  const columns: readonly Column<Person>[] = [
    {
      head: 'Person',
      cell: ({ name, email, id }) => (
        <div className="person">
          <Face name={name ?? email} url={null} />
          <div>
            <span className="strong">{name ?? email}</span>
            {id === me?.id && ' (you)'}
            {name && <span {...oneLine(email, 'second')}>{email}</span>}
          </div>
        </div>
      ),
    },
    { head: 'Role', cell: ({ role }) => words(role), chip: 'value' },
    {
      head: 'Last active',
      isWide: true,
      cell: ({ last_seen_at }) => (last_seen_at === null ? 'Has not signed in yet' : <Ago at={last_seen_at} />),
    },
    { head: 'Added', cell: ({ created_at }) => day(created_at), isWide: true },
    {
      head: 'Actions',
      needs: 'update_person',
      cell: (person) => (
        <div className="row">
          <Editor item={person} needs="update_person" label={`Edit ${person.email}`}>
            {(editing) => <EditPerson {...editing} />}
          </Editor>
          {person.id !== me?.id && (
            <Confirm
              needs="remove_person"
              label="Remove"
              title={`Remove ${person.name ?? person.email}?`}
              action="Remove"
              onConfirm={() => remove.mutateAsync({ params: { id: person.id } })}
            >
              <p>Their sessions end within a second. The audit log still shows their name.</p>
            </Confirm>
          )}
        </div>
      ),
    },
  ];
  return (
    <>
      <PageHead title="People" hint="Who can sign in to this brand, and what they may do.">
        <Button needs="invite_person" kind="primary" onPress={inviting.open}>
          Invite someone
        </Button>
      </PageHead>
      <Table
        caption="People"
        noun={['person', 'people']}
        list={list}
        columns={columns}
        usually={3}
        empty={<Empty title="No people yet" />}
      />
      <Card title="Roles">
        <Facts of={ROLES_MAY} />
      </Card>
      <OperationDialog
        operation="invite_person"
        title="Invite someone"
        isOpen={inviting.isOpen}
        onClose={inviting.close}
        action="Invite"
        start={{ role: 'viewer' }}
        fields={['email', 'name', ROLE]}
        shown={['list_people']}
        onDone={({ data }) => {
          inviting.close();
          setLink(new URL(data.sign_in_path, location.origin).href);
        }}
      />
      <Dialog
        title="Invitation link"
        hint="The link works once and expires in three days. Copy it now: it is shown only once."
        isOpen={link !== undefined}
        onClose={() => setLink(undefined)}
      >
        <code className="secret">{link}</code>
        <div className="popup-foot">
          <Copy text={link ?? ''} label="Copy the link" />
        </div>
      </Dialog>
    </>
  );
}
