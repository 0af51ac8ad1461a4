import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { Editor } from '../kit/editor.tsx';
import { day, words } from '../kit/format.ts';
import { toDay } from '../kit/last-day.ts';
import { Menu } from '../kit/menu.tsx';
import { useOpened } from '../kit/opened.ts';
import { Badge, Button, Copy, Facts, Failure, OnPhone } from '../kit/parts.tsx';
import { type Column, Opener } from '../kit/table.tsx';
import { Due } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';
import { useDueOrder, useWorkQuery, WorkPage } from '../kit/work.tsx';
import { payText } from './compensation.ts';
import { ContractText, TextPreview } from './contract-document.tsx';
import { DraftPreview } from './contract-draft.tsx';
import { CONTRACT_FIELDS, EarlyDue, EditContract, termsText } from './contract-edit.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';

const STATES = listChoices('list_contracts', 'status');
type Contract = Row<'list_contracts'>;
/** Why a contract that is not a draft cannot be edited. */
const WHY_NOT_EDITED = {
  sent: 'This contract has been sent and can no longer be edited. To change it, void it and draft another.',
  signed: 'A signed contract cannot be edited.',
  expired: 'This contract has ended and cannot be edited. Draft another instead.',
} as const;

const SENT = ['list_contracts', 'get_contract', 'list_deliverables'] as const;

/** A contract that was sent waits to be signed, and the brand can remind its creator. */
const State = ({ of: { status, expired_reason } }: { of: Pick<Contract, 'status' | 'expired_reason'> }) => (
  <Badge state={expired_reason ?? status} isWaiting={status === 'sent'} />
);

/** The next step of a row: a draft is sent, and whoever has not signed yet is reminded. */
function NextStep({ of: { id, status, creator_name, creator_email } }: { of: Contract }) {
  const send = useChange('send_contract', SENT);
  const say = useSay();
  if (status !== 'draft' && status !== 'sent') return null;
  const isDraft = status === 'draft';
  const who = creator_name ?? creator_email;
  const sendIt = () =>
    send.mutateAsync({ params: { id }, body: {} }).then(
      () => say(`${who} was emailed a link to sign.`),
      ({ message }: Error) => say(message),
    );
  return (
    <Button
      needs="send_contract"
      isBusy={send.isPending}
      onPress={() => void sendIt()}
      label={`${isDraft ? 'Send to' : 'Remind'} ${who}`}
    >
      {isDraft ? 'Send' : 'Remind'}
    </Button>
  );
}

/** The text that the creator signs, below the facts. */
function Preview({ of: { id, status } }: { of: Pick<Contract, 'id' | 'status'> }) {
  const text = useCall('get_contract_document', { params: { id } }).data?.data;
  if (text?.contract_id !== id) return null;
  return (
    <section>
      <div className="card-head">
        <h3>{status === 'signed' ? 'What was signed' : 'What the creator signs'}</h3>
        <Link to="/contracts/$id" params={{ id }} search={{}}>
          {status === 'signed' ? 'Open the signed contract' : 'Open the contract'}
        </Link>
      </div>
      <TextPreview>
        <ContractText html={text.html} />
      </TextPreview>
    </section>
  );
}

/** The day of the signature, or the last one for it. */
function renderSignature({ status, signed_at, expires_at }: Contract): ReactNode {
  if (signed_at) return `Signed ${day(signed_at)}`;
  if ((status !== 'draft' && status !== 'sent') || expires_at === null) return '–';
  return (
    <>
      Sign by <Due at={toDay(expires_at)} isDone={status === 'draft'} />
    </>
  );
}

/** Ends a contract that nobody has signed. A draft has it in a menu, beside what is done with drafts. */
function Void({ of: { id, status } }: { of: Pick<Contract, 'id' | 'status'> }) {
  const end = useChange('void_contract', ['list_contracts', 'get_contract', 'list_deliverables']);
  const isDraft = status === 'draft';
  return (
    <Confirm
      needs="void_contract"
      label={isDraft ? 'Void the draft' : 'Void'}
      title={isDraft ? 'Void this draft?' : 'Void this contract?'}
      action="Void"
      onConfirm={() => end.mutateAsync({ params: { id }, body: {} })}
    >
      <p>
        {isDraft
          ? 'It can no longer be sent. It stays in the list, and its deliverables are cancelled.'
          : 'It can no longer be signed. The creator is told by email, and its deliverables are cancelled.'}
      </p>
    </Confirm>
  );
}

/** How the panel names it. */
const nameContract = (contract: Pick<Contract, 'creator_name' | 'creator_email'> | undefined) =>
  contract ? `Contract with ${contract.creator_name ?? contract.creator_email}` : 'Contract';

function Opened({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_contract', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const send = useChange('send_contract', SENT);
  // The panel stays mounted when another contract is opened, so the link has to name its contract.
  const [link, setLink] = useState<{ of: string; url: string | null }>();
  const sendIt = async () => {
    const { data: sent } = await send.mutateAsync({ params: { id: id ?? '' }, body: {} });
    setLink({ of: sent.id, url: sent.signature_url });
  };
  return (
    <Detail id={id} onClose={onClose} query={query} title={nameContract}>
      {(contract) => (
        <>
          <div className="row">
            {['draft', 'sent'].includes(contract.status) && (
              <Button
                needs="send_contract"
                kind="primary"
                isBusy={send.isPending}
                onPress={() => void sendIt().catch(() => undefined)}
              >
                {contract.status === 'draft' ? 'Send for signature' : 'Remind'}
              </Button>
            )}
            {contract.status === 'draft' && (
              <>
                <Editor item={contract} needs="update_contract">
                  {(editing) => <EditContract {...editing} />}
                </Editor>
                <Menu label="More actions for the contract" needs="void_contract">
                  <Void of={contract} />
                </Menu>
              </>
            )}
            {contract.status === 'sent' && <Void of={contract} />}
          </div>
          {send.error && <Failure error={send.error} />}
          {link?.of === contract.id && link.url !== null && (
            <div className="note-box row">
              <span>The creator was emailed a link to the signing page.</span>{' '}
              <Copy text={link.url} label="Copy the signing page’s address" />
            </div>
          )}
          <Facts
            of={[
              ['Title', contract.title],
              ['Status', <State key="state" of={contract} />],
              ['Creator', <CreatorName key="creator" of={contract} />],
              ['Campaign', <CampaignName key="campaign" id={contract.campaign_id} />],
              ['Pay', payText(contract)],
              [
                'Deliverables',
                contract.deliverables
                  .map(
                    ({ quantity, type, due_date }) =>
                      `${quantity} × ${words(type)}${due_date ? `, due ${day(due_date)}` : ''}`,
                  )
                  .join('\n'),
              ],
              ['Rights', contract.usage_rights],
              ['Usage terms', termsText(contract.terms)],
              ['Sign by', contract.signed_at === null && contract.expires_at && day(toDay(contract.expires_at))],
              ['Sent', day(contract.sent_at)],
              [
                'Signed',
                contract.signed_at && `${day(contract.signed_at)} by ${contract.signer_name ?? 'the creator'}`,
              ],
            ]}
          />
          {contract.status === 'draft' ? (
            <DraftPreview of={contract} />
          ) : (
            <p className="hint">{WHY_NOT_EDITED[contract.status]}</p>
          )}
          {contract.content_sha256 !== null && <Preview of={contract} />}
        </>
      )}
    </Detail>
  );
}

export function Contracts() {
  const query = useWorkQuery(STATES);
  const dueOrder = useDueOrder();
  const list = useRows('list_contracts', { ...query, sort: dueOrder.sort });
  const panel = useOpened();
  const columns: readonly Column<Contract>[] = [
    {
      head: 'Creator',
      cell: ({ id, title, creator_name, creator_email }) => (
        <Opener of={{ creator_name, creator_email }} onOpen={() => panel.open(id)} second={title}>
          {creator_name ?? creator_email}
        </Opener>
      ),
    },
    { head: 'Campaign', cell: ({ campaign_id: id }) => (id === null ? '–' : <CampaignName id={id} />), chip: 'value' },
    {
      head: 'Status',
      cell: (contract) => (
        <>
          <State of={contract} />
          <OnPhone>
            <NextStep of={contract} />
          </OnPhone>
        </>
      ),
    },
    { head: 'Pay', cell: payText, isNumber: true, chip: 'value' },
    { head: 'Signature', cell: renderSignature, chip: 'value', sort: dueOrder.column },
    { head: 'Created', cell: ({ created_at }) => day(created_at), isWide: true, isOrder: true },
    { head: 'Actions', needs: 'send_contract', isWide: true, cell: (contract) => <NextStep of={contract} /> },
  ];
  return (
    <WorkPage
      title="Contracts"
      hint="Creators sign on a private page, then see their deliverables."
      states={STATES}
      list={list}
      columns={columns}
      empty="Draft one for a creator on your roster."
      create={{
        operation: 'create_contract',
        title: 'Draft a contract',
        action: 'Save draft',
        actions: [['send_for_signature', 'Send for signature']],
        start: {
          creator_email: query.creator_email,
          campaign_id: query.campaign_id,
          compensation: { type: 'fixed' },
          deliverables: [{}],
        },
        fields: CONTRACT_FIELDS,
        children: <EarlyDue />,
        shown: ['list_contracts', 'list_deliverables'],
        onDone: ({ data }) => panel.open(data.id),
      }}
    >
      <Opened id={panel.id} onClose={panel.close} />
    </WorkPage>
  );
}
