import type { Answer, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { type Editing, Editor } from '../kit/editor.tsx';
import { words } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Facts } from '../kit/parts.tsx';
import { Ago } from '../kit/time.tsx';

export const ALL_EVENTS = [...listChoices('create_webhook', 'events')];

/** An event in words, such as "Deliverable submitted" for `deliverable.submitted`. */
export const eventName = (event: string) => words(event.replace('.', ' '));

type Webhook = Answer<'get_webhook'>['data'];

/** The receiver's answer to the newest attempt. */
export const lastAnswer = ({ last_status_code: code }: Pick<Row<'list_webhooks'>, 'last_status_code'>): string =>
  code === null ? 'No response' : `Answered ${code}`;

function EditWebhook({ item, isOpen, onClose }: Editing<Webhook>) {
  return (
    <OperationDialog
      operation="update_webhook"
      title="Edit the webhook"
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: item.id }}
      item={item}
      fields={[
        { name: 'url', label: 'Address', kind: 'url' },
        'description',
        { name: 'active', label: 'Send events to it' },
        { name: 'events', labels: Object.fromEntries(ALL_EVENTS.map((event) => [event, eventName(event)])) },
      ]}
      omits={item.variant === 'current' ? [] : ['events']}
      shown={['list_webhooks', 'get_webhook']}
      onDone={onClose}
    />
  );
}

/** The state of an endpoint and its events, above its deliveries. */
export function WebhookHead({ of: webhook }: { of: Webhook }) {
  const { status, description, events, last_triggered_at: at } = webhook;
  const isAll = events.length >= ALL_EVENTS.length;
  return (
    <>
      <div className="row">
        <Badge state={status} />
        <Editor item={webhook} needs="update_webhook">
          {(editing) => <EditWebhook {...editing} />}
        </Editor>
      </div>
      <Facts
        of={[
          ['Description', description],
          ['Events', isAll ? 'All events' : events.map(eventName).join(', ')],
          [
            'Last delivery',
            at !== null && (
              <span key="last">
                <Ago at={at} />, {lastAnswer(webhook).toLowerCase()}
              </span>
            ),
          ],
        ]}
      />
    </>
  );
}
