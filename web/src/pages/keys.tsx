import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Editor } from '../kit/editor.tsx';
import { day, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Button, Copy, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { KeyEdit, limitsInWords } from './key-limits.tsx';
import { KeyUsage } from './key-usage.tsx';

const OVERLAPS = [
  ['24', 'For 24 hours'],
  ['168', 'For 7 days'],
  ['0', 'No, revoke it now'],
] as const;
const TYPE_LABELS = { brand: 'Brand: every operation', data: 'Data: directory search only, uses credits' } as const;

type Key = Row<'list_keys'>;

export function Keys() {
  const list = useRows('list_keys', {});
  const revoke = useChange('revoke_key', ['list_keys']);
  const making = useDialog('create');
  const rotating = useOpened('rotate');
  const rotatedKey = list.rows.find(({ id }) => id === rotating.id);
  const [newKey, setNewKey] = useState<string>();
  const columns: readonly Column<Key>[] = [
    {
      head: 'Name',
      cell: ({ name, masked }) => (
        <>
          {name}
          <span className="second">
            <code>{masked}</code>
          </span>
        </>
      ),
    },
    { head: 'Type', cell: ({ type }) => words(type), chip: 'value' },
    { head: 'Status', cell: ({ state }) => <Badge state={state} /> },
    { head: 'Limits', cell: limitsInWords, isWide: true },
    { head: 'Last used', cell: ({ last_used_at }) => <Ago at={last_used_at} />, chip: 'named' },
    { head: 'Created', cell: ({ created_at }) => day(created_at), isWide: true },
    {
      head: 'Actions',
      needs: 'revoke_key',
      cell: (key) =>
        (key.state === 'active' || key.state === 'expiring') && (
          <div className="row">
            <Editor item={key} needs="update_key" label={`Edit ${key.name}`}>
              {({ item, ...dialog }) => <KeyEdit of={item} {...dialog} />}
            </Editor>
            <Menu label={`More actions for ${key.name}`} needs="revoke_key">
              <Button needs="rotate_key" onPress={() => rotating.open(key.id)} label={`Rotate ${key.name}`}>
                Rotate
              </Button>
              <Confirm
                needs="revoke_key"
                label="Revoke"
                title={`Revoke ${key.name}?`}
                action="Revoke the key"
                onConfirm={() => revoke.mutateAsync({ params: { id: key.id } })}
              >
                <p>Requests that use it are refused within a second. This cannot be undone.</p>
              </Confirm>
            </Menu>
          </div>
        ),
    },
  ];
  return (
    <>
      <PageHead
        title="API keys"
        hint="A brand key can call every operation; a data key only searches the directory and uses credits. A key is shown once, when you create it."
      >
        <Button needs="create_key" kind="primary" onPress={making.open}>
          Create a key
        </Button>
      </PageHead>
      <Table
        caption="API keys"
        noun="key"
        list={list}
        columns={columns}
        empty={<Empty title="No API keys yet">Create one for your website, your warehouse or an agent.</Empty>}
      />
      <KeyUsage />
      <OperationDialog
        operation="create_key"
        title="Create a key"
        isOpen={making.isOpen}
        onClose={making.close}
        action="Create the key"
        start={{ type: 'brand' }}
        fields={[
          { name: 'name', hint: 'Who or what uses it, such as “website”.' },
          { name: 'type', labels: TYPE_LABELS },
          { name: 'expires_at', label: 'Expires on', isLastDay: true },
        ]}
        shown={['list_keys']}
        onDone={({ data }) => {
          making.close();
          setNewKey(data.key);
        }}
      />
      <OperationDialog
        operation="rotate_key"
        title={`Rotate ${rotatedKey?.name ?? ''}`}
        hint="Creates a new key with the same name. Deploy it while the old one still works."
        isOpen={rotatedKey !== undefined}
        onClose={rotating.close}
        action="Create the new key"
        params={{ id: rotatedKey?.id ?? '' }}
        fields={[{ name: 'overlap_hours', label: 'Keep the old key working', options: OVERLAPS }]}
        shown={['list_keys']}
        onDone={({ data }) => {
          rotating.close();
          setNewKey(data.key);
        }}
      />
      <Dialog
        title="Your new key"
        hint="Copy it now: it is shown only once."
        isOpen={newKey !== undefined}
        onClose={() => setNewKey(undefined)}
      >
        <code className="secret" data-testid="key">
          {newKey}
        </code>
        <div className="popup-foot">
          <Copy text={newKey ?? ''} label="Copy the key" />
          <Button kind="primary" onPress={() => setNewKey(undefined)}>
            I have saved it
          </Button>
        </div>
      </Dialog>
    </>
  );
}
