import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Choose } from '../kit/filters.tsx';
import type { FieldGroup } from '../kit/form.tsx';
import { number, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Badge, Button, breakable, Copy, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';
import { Deliveries } from './webhook-deliveries.tsx';
import { ALL_EVENTS, eventName, lastAnswer } from './webhook-head.tsx';
import { RecoverDialog } from './webhook-recover.tsx';

type Webhook = Row<'list_webhooks'>;

type Which = 'all' | 'some';
const WHICH = [
  ['all', 'All events'],
  ['some', 'Selected events'],
] as const;

/** An address without its scheme, which is the same for all. */
const toAddress = (url: string) => url.replace(/^https?:\/\//, '');

const getNoun = (event: string) => event.split('.')[0] ?? event;

/** Events under the name of what they are about. */
const buildGroups = (events: readonly Row<'list_webhook_events'>[]): FieldGroup[] =>
  [...Map.groupBy(events, ({ event }) => getNoun(event))].map(([noun, its]) => ({
    key: noun,
    legend: words(noun),
    fields: its.map(({ event, when }) => ({
      name: `events.${event}`,
      label: eventName(event),
      kind: 'checkbox',
      hint: when,
    })),
  }));

/** The events that are sent, in words. */
function describeEvents([first = '', ...more]: readonly string[]): string {
  if (more.length + 1 >= ALL_EVENTS.length) return 'All events';
  const name = eventName(first);
  return more.length === 0 ? name : `${name} and ${number(more.length)} more`;
}

/** The number of deliveries in a state, which leads to them. */
function Count({ of: { id }, state }: { of: Webhook; state: 'delivered' | 'failed' }) {
  const { data } = useCall('list_webhook_deliveries', { params: { id }, query: { state, limit: 1 } });
  const count = data?.pagination.total;
  if (!count) return count === undefined ? <span className="bone figure" aria-busy /> : '–';
  return (
    <Link to="/webhooks" search={{ open: id, state }}>
      {number(count)}
    </Link>
  );
}

/** A receiver that fails, with the two ways on: what failed, and sending it again. */
function Failing({ of: webhook, onRecover }: { of: Webhook; onRecover: () => void }) {
  const { id, url, last_status_code: code, last_triggered_at: at } = webhook;
  return (
    <div className="problem summary stack">
      <p>
        <strong>{breakable(toAddress(url))}</strong> did not accept the last delivery, <Ago at={at} />:{' '}
        {code === null ? 'it did not answer.' : `it answered ${code}.`}
      </p>
      <div className="row">
        <Link to="/webhooks" search={{ open: id, state: 'failed' }} className="button">
          See what failed
        </Link>
        <Button needs="recover_webhook" onPress={onRecover}>
          Send missed events
        </Button>
      </div>
    </div>
  );
}

export function Webhooks() {
  const list = useRows('list_webhooks', {});
  const events = useCall('list_webhook_events').data?.data ?? [];
  const update = useChange('update_webhook', ['list_webhooks']);
  const remove = useChange('delete_webhook', ['list_webhooks']);
  const rotate = useChange('rotate_webhook_secret', ['list_webhooks']);
  const test = useChange('test_webhook', ['list_webhook_deliveries', 'list_webhooks']);
  const say = useSay();
  const making = useDialog('create');
  const panel = useOpened();
  const recovering = useOpened('recover');
  const [secret, setSecret] = useState<string>();
  const [which, setWhich] = useState<Which>('all');
  const sendTest = (id: string) =>
    test.mutateAsync({ params: { id }, body: {} }).then(
      () => say('A test event was queued. See its delivery for the result.'),
      (error: Error) => say(error.message),
    );
  const turnOn = (id: string) =>
    update.mutate({ params: { id }, body: { active: true } }, { onError: ({ message }) => say(message) });
  const renderActions = ({ id, url, active }: Webhook) => (
    <Menu label={`Actions for ${url}`}>
      <Button onPress={() => void sendTest(id)} label={`Send a test to ${url}`}>
        Send a test
      </Button>
      <Button needs="recover_webhook" onPress={() => recovering.open(id)}>
        Send missed events
      </Button>
      {!active && (
        <Button needs="update_webhook" onPress={() => turnOn(id)} label={`Turn ${url} on`}>
          Turn on
        </Button>
      )}
      <Confirm
        needs="rotate_webhook_secret"
        label="New secret"
        title="Create a new secret?"
        action="Create secret"
        isDanger={false}
        onConfirm={async () => {
          const { data } = await rotate.mutateAsync({ params: { id }, body: { overlap_hours: 24 } });
          setSecret(data.secret);
        }}
      >
        <p>For 24 hours, deliveries are signed with both the old and the new secret.</p>
      </Confirm>
      <Confirm
        needs="delete_webhook"
        label="Remove"
        title={`Remove ${url}?`}
        action="Remove"
        onConfirm={() => remove.mutateAsync({ params: { id } })}
      >
        <p>No more events are sent to it.</p>
      </Confirm>
    </Menu>
  );
  const choice: FieldGroup = {
    key: 'which',
    legend: 'Events',
    fields: [],
    foot: <Choose ofForm label="Events" value={which} options={WHICH} onChoose={setWhich} />,
  };
  const columns: readonly Column<Webhook>[] = [
    {
      head: 'Address',
      cell: (webhook) => (
        <>
          <button
            type="button"
            className="link one-line address"
            title={webhook.url}
            aria-label={webhook.url}
            onClick={() => panel.open(webhook.id)}
          >
            {toAddress(webhook.url)}
          </button>
          <span className="second one-line">{webhook.description}</span>
        </>
      ),
    },
    {
      head: 'Events',
      isWide: true,
      cell: ({ events: names }) => <span title={names.map(eventName).join(', ')}>{describeEvents(names)}</span>,
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} />, chip: 'value' },
    {
      head: 'Last delivery',
      cell: (webhook) =>
        webhook.last_triggered_at === null ? (
          '–'
        ) : (
          <>
            <Ago at={webhook.last_triggered_at} /> <span className="second">{lastAnswer(webhook)}</span>
          </>
        ),
      chip: 'value',
    },
    { head: 'Delivered', cell: (webhook) => <Count of={webhook} state="delivered" />, isNumber: true, isWide: true },
    { head: 'Failed', cell: (webhook) => <Count of={webhook} state="failed" />, isNumber: true, isWide: true },
    { head: 'Actions', needs: 'test_webhook', cell: renderActions },
  ];
  return (
    <>
      <PageHead title="Webhooks" hint="Send events to your systems and see whether each delivery succeeded.">
        <Button needs="create_webhook" kind="primary" onPress={making.open}>
          Add a webhook
        </Button>
      </PageHead>
      {list.rows
        .filter(({ status }) => status === 'failing')
        .map((webhook) => (
          <Failing key={webhook.id} of={webhook} onRecover={() => recovering.open(webhook.id)} />
        ))}
      <Table
        caption="Webhooks"
        noun="webhook"
        list={list}
        columns={columns}
        empty={<Empty title="No webhooks yet">Add an endpoint that receives events.</Empty>}
      />
      <Dialog title="Add a webhook" isOpen={making.isOpen} onClose={making.close}>
        <OperationForm
          operation="create_webhook"
          action="Add"
          onCancel={making.close}
          fields={[
            { name: 'url', label: 'Address', kind: 'url', hint: 'An https URL that is reachable from the internet.' },
            'description',
          ]}
          groups={[choice, ...(which === 'all' ? [] : buildGroups(events))]}
          {...(which === 'all' ? { fixed: { events: ALL_EVENTS } } : {})}
          brings={['events']}
          shown={['list_webhooks']}
          onDone={({ data }) => {
            making.close();
            setSecret(data.secret);
          }}
        />
      </Dialog>
      <Deliveries id={panel.id} onClose={panel.close} />
      <RecoverDialog id={recovering.id} onClose={recovering.close} />
      <Dialog
        title="The signing secret"
        hint="Copy it now: it is shown only once. Your receiver verifies signatures with it."
        isOpen={secret !== undefined}
        onClose={() => setSecret(undefined)}
      >
        <code className="secret">{secret}</code>
        <div className="popup-foot">
          <Copy text={secret ?? ''} label="Copy the secret" />
          <Button kind="primary" onPress={() => setSecret(undefined)}>
            I have saved it
          </Button>
        </div>
      </Dialog>
    </>
  );
}
