import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Body, call } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { saveJson } from '../kit/download.tsx';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';

/** A person as a request names them. */
export type DataSubject = Pick<Body<'create_data_request'>, 'creator_id' | 'customer_of'>;

const GOES = {
  creator: [
    'name, addresses, handles, tags and your notes',
    'messages, applications, texts of contracts and briefs, files, parcels, emails',
    'their page; their codes and links are switched off',
  ],
  customer: [
    'their address, on every order of the same person',
    'what recognizes them: their next order is a new customer’s',
    'stored bodies of what the store sent about these orders',
  ],
} as const;

const STAYS = {
  creator: [
    'ledger, commissions, payouts and figures, under a pseudonym',
    'if you paid them, name, address and signed contracts for your books, sealed for the years that Settings say',
  ],
  customer: ['amounts, dates and lines of the orders, and the store’s own ids'],
} as const;

/** The effects of an erasure, in words. */
function Consequences({ of }: { of: 'creator' | 'customer' }) {
  const list = (lines: readonly string[]) => (
    <ul className="points">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
  return (
    <div className="stack">
      <h3>What goes</h3>
      {list(GOES[of])}
      <h3>What stays</h3>
      {list(STAYS[of])}
      <p>It cannot be undone. What your own bucket, receivers of webhooks and the store have is out of reach.</p>
    </div>
  );
}

/** Saves everything that is kept of a person as a file. */
export function ExportPerson({ of }: { of: DataSubject }) {
  const say = useSay();
  const create = useChange('create_data_request', ['list_data_requests']);
  async function save() {
    try {
      const { data } = await create.mutateAsync({ body: { kind: 'access', ...of } });
      const file = await call('get_data_request_file', { params: { id: data.id } });
      saveJson(file, `${data.id}.json`);
      say('The file has everything that is kept of this person.');
    } catch (error) {
      say(error instanceof Error ? error.message : 'The file could not be made.');
    }
  }
  return (
    <Button needs="create_data_request" isBusy={create.isPending} onPress={() => void save()}>
      Export their data
    </Button>
  );
}

/** The queries that show people. */
const SHOWN = ['list_data_requests', 'list_roster', 'list_creators', 'list_customers', 'list_orders'] as const;

interface EraseProps {
  of: DataSubject;
  name: string;
  /** True in the panel of another thing, such as an order. */
  isQuiet?: boolean;
}

/** Erases a person, after saying what goes and what stays. */
export function ErasePerson({ of, name, isQuiet = false }: EraseProps) {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const say = useSay();
  const subject = of.creator_id === undefined ? 'customer' : 'creator';
  return (
    <>
      <Button needs="create_data_request" kind={isQuiet ? 'quiet' : 'danger'} onPress={() => setOpen(true)}>
        Erase
      </Button>
      <OperationDialog
        operation="create_data_request"
        title={`Erase ${name}?`}
        head={<Consequences of={subject} />}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Erase for good"
        kind="danger"
        fields={[
          { name: 'reason', label: 'Why', hint: 'For your own records.' },
          ...(subject === 'creator' ? [{ name: 'forfeit' as const, label: 'Reject what is still due to them' }] : []),
        ]}
        omits={[
          ...(['creator_email', 'creator_handle', 'customer_email', 'integration_id', 'order_ids'] as const),
          ...(['creator_id', 'customer_of', 'kind'] as const),
          ...(subject === 'creator' ? [] : (['forfeit'] as const)),
        ]}
        fixed={{ kind: 'erasure', ...of }}
        shown={SHOWN}
        onDone={async ({ data }) => {
          say(data.state === 'done' ? 'Erased.' : 'It is being carried out.');
          await navigate({ to: '/rights', search: { open: data.id } });
        }}
      />
    </>
  );
}
