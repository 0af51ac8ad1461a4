import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { changed, isEmpty } from '../kit/changed.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { listEnum } from '../kit/every.ts';
import { Face } from '../kit/face.tsx';
import { FormDialog } from '../kit/form.tsx';
import { day, words } from '../kit/format.ts';
import { useDialog } from '../kit/opened.ts';
import { Button, Card, Copy, Empty, Facts, oneLine, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';

const ROLES = listEnum<Row<'list_people'>['role']>()(['viewer', 'manager', 'owner']);
const ROLE_OPTIONS = [
  ['viewer', 'Viewer: read only'],
  ['manager', 'Manager: everything except people'],
  ['owner', 'Owner: everything'],
] as const;
const ROLES_MAY = [
  ['Owner', 'Everything, also invite and remove people, and decide what agents may do.'],
  ['Manager', 'Everything except managing people: creators, campaigns, contracts, payouts, settings, keys.'],
  ['Viewer', 'Read everything. Buttons that change something are not shown.'],
] as const;
type Person = Row<'list_people'>;

function EditPerson({ item: person, isOpen, onClose }: Editing<Person>) {
  const update = useChange('update_person', ['list_people', 'get_session']);
  return (
    <FormDialog
      title={`Edit ${person.name ?? person.email}`}
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      fields={[
        { name: 'name', label: 'Name', value: person.name },
        {
          name: 'role',
          label: 'Role',
          kind: 'select',
          isRequired: true,
          options: ROLE_OPTIONS,
          value: person.role,
        },
      ]}
      onSubmit={async (values) => {
        const body = changed({ name: values.orNull('name'), role: values.choice('role', ROLES) }, person);
        if (!isEmpty(body)) await update.mutateAsync({ params: { id: person.id }, body });
        onClose();
      }}
    />
  );
}

export function People() {
  const list = useRows('list_people', {});
  const me = useCall('get_session').data?.data.person;
  const invite = useChange('invite_person', ['list_people']);
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
    { head: 'Role', cell: ({ role }) => words(role) },
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
      <Table caption="People" list={list} columns={columns} usually={3} empty={<Empty title="No people yet" />} />
      <Card title="Roles">
        <Facts of={ROLES_MAY} />
      </Card>
      <FormDialog
        title="Invite someone"
        isOpen={inviting.isOpen}
        onClose={inviting.close}
        action="Invite"
        fields={[
          { name: 'email', label: 'E-mail', kind: 'email', isRequired: true },
          { name: 'name', label: 'Name' },
          { name: 'role', label: 'Role', kind: 'select', isRequired: true, options: ROLE_OPTIONS },
        ]}
        onSubmit={async (values) => {
          const { data } = await invite.mutateAsync({
            body: { email: values.text('email'), name: values.orNull('name'), role: values.choice('role', ROLES) },
          });
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
