import { useEffect, useRef, useState } from 'react';
import type { Answer } from '../call/call.ts';
import type { Editing } from '../kit/editor.tsx';
import { day, number, words } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { PAY_FIELDS } from './compensation.ts';

type Contract = Answer<'get_contract'>['data'];

export const CONTRACT_FIELDS = [
  ...(['creator_email', 'campaign_id', 'title'] as const),
  ...PAY_FIELDS,
  { name: 'expires_at', label: 'Sign by', hint: 'It cannot be signed after this date.', isLastDay: true },
  ...(['usage_rights', 'deliverables'] as const),
  { name: 'deliverables.type', label: 'Content type', hint: 'For example, “reel”.' },
  'deliverables.platform',
  { name: 'deliverables.quantity', isBeside: true },
  'deliverables.due_date',
  { name: 'terms', label: 'Usage terms' },
  {
    name: 'terms.starts',
    label: 'Usage starts',
    labels: {
      signed: 'When the contract is signed',
      posted: 'When the content is posted',
      fixed: 'On a fixed date',
    },
  },
  { name: 'terms.starts_on', label: 'Start date' },
  { name: 'terms.days', label: 'Length in days', hint: 'Leave blank for no limit.' },
  { name: 'terms.territory', hint: 'Leave blank for worldwide.' },
  { name: 'terms.channels', hint: 'Separate with commas. Leave blank for any.' },
] as const;

/** Warns if a deliverable is due before the last day to sign, because nothing is owed until then. */
export function EarlyDue() {
  const place = useRef<HTMLParagraphElement>(null);
  const [isEarly, setEarly] = useState(false);
  useEffect(() => {
    const form = place.current?.closest('form');
    if (!form) return;
    const check = () => {
      const values = [...new FormData(form)];
      const signBy = String(values.find(([name]) => name === 'expires_at')?.[1] ?? '');
      const dueDates = values.filter(([name]) => name.endsWith('.due_date')).map(([, value]) => String(value));
      setEarly(signBy !== '' && dueDates.some((date) => date !== '' && date < signBy));
    };
    check();
    form.addEventListener('input', check);
    return () => form.removeEventListener('input', check);
  }, []);
  return (
    <p ref={place} className="problem summary wait" role="status" hidden={!isEarly}>
      A deliverable is due before “Sign by”: the creator may sign after it is due.
    </p>
  );
}

/** The terms in one line. */
export function termsText(terms: Contract['terms']): string | null {
  if (!terms) return null;
  const { days, territory, channels, starts, starts_on } = terms;
  const from = { signed: 'signing', posted: 'posting', fixed: day(starts_on) }[starts] ?? words(starts);
  const length = days === null ? 'No time limit' : `${number(days)} days`;
  return [
    `${length}, from ${from}`,
    territory ?? 'worldwide',
    channels.map(words).join(', ').toLowerCase() || 'any channel',
  ].join('; ');
}

export function EditContract({ item: contract, isOpen, onClose }: Editing<Contract>) {
  return (
    <OperationDialog
      operation="update_contract"
      title="Edit the contract"
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: contract.id }}
      item={contract}
      fields={CONTRACT_FIELDS}
      shown={['list_contracts', 'get_contract', 'list_deliverables']}
      onDone={onClose}
    >
      <EarlyDue />
    </OperationDialog>
  );
}
