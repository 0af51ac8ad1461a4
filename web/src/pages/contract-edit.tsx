import { useState } from 'react';
import type { Answer, Body } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { changed, isEmpty, toDay } from '../kit/changed.ts';
import type { Editing } from '../kit/editor.tsx';
import { listEnum } from '../kit/every.ts';
import { campaignField, creatorField, type Field, FormDialog, type Group, type Values } from '../kit/form.tsx';
import { day, number, words } from '../kit/format.ts';
import { toDayEnd } from '../kit/last-day.ts';
import { Button } from '../kit/parts.tsx';
import { compensationFields, compensationIn } from './compensation.ts';
import { platformField, platformIn } from './platforms.ts';

type Contract = Answer<'get_contract'>['data'];
type Starts = NonNullable<NonNullable<Body<'update_contract'>['terms']>['starts']>;
const STARTS = listEnum<Starts | 'none'>()(['none', 'signed', 'posted', 'fixed']);

interface Entry {
  key: string;
  of?: Contract['deliverables'][number];
}

const buildFields = (contract: Contract): Field[] => [
  creatorField(contract.creator_email),
  campaignField(contract.campaign_id),
  { name: 'title', label: 'Title', isRequired: true, value: contract.title },
  ...compensationFields('Pay', contract.compensation),
  {
    name: 'expires_at',
    label: 'Sign by',
    kind: 'date',
    hint: 'It cannot be signed after this date.',
    value: toDay(contract.expires_at),
  },
  { name: 'usage_rights', label: 'Rights', kind: 'textarea', value: contract.usage_rights },
];

const buildTerms = ({ terms }: Contract): Group => ({
  key: 'terms',
  legend: 'Usage terms',
  fields: [
    {
      name: 'terms.starts',
      label: 'Usage starts',
      kind: 'select',
      isRequired: true,
      value: terms?.starts ?? 'none',
      options: [
        ['none', 'Not specified'],
        ['signed', 'When the contract is signed'],
        ['posted', 'When the content is posted'],
        ['fixed', 'On a fixed date'],
      ],
    },
    { name: 'terms.starts_on', label: 'Start date', kind: 'date', value: terms?.starts_on ?? null },
    {
      name: 'terms.days',
      label: 'Length in days',
      kind: 'number',
      step: '1',
      hint: 'Leave blank for no limit.',
      value: terms?.days ?? null,
    },
    {
      name: 'terms.territory',
      label: 'Territory',
      hint: 'Leave blank for worldwide.',
      value: terms?.territory ?? null,
    },
    {
      name: 'terms.channels',
      label: 'Channels',
      hint: 'Separate with commas. Leave blank for any.',
      value: terms?.channels.join(', ') ?? null,
    },
  ],
});

/** Named by its position, as the API names fields in errors. */
const entryGroup = ({ key, of }: Entry, place: number, onRemove: () => void): Group => ({
  key,
  legend: `Deliverable ${place + 1}`,
  onRemove,
  fields: [
    { name: `deliverables.${place}.type`, label: 'Content type', isRequired: true, value: of?.type ?? null },
    platformField(`deliverables.${place}.platform`, of?.platform),
    {
      name: `deliverables.${place}.quantity`,
      label: 'Quantity',
      kind: 'number',
      step: '1',
      isRequired: true,
      value: of?.quantity ?? 1,
    },
    { name: `deliverables.${place}.due_date`, label: 'Due date', kind: 'date', value: of?.due_date ?? null },
  ],
});

function entryIn(values: Values, place: number) {
  const name = `deliverables.${place}`;
  return {
    type: values.text(`${name}.type`),
    platform: platformIn(values, `${name}.platform`),
    quantity: values.number(`${name}.quantity`),
    due_date: values.orNull(`${name}.due_date`),
  };
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

function termsIn(values: Values) {
  const starts = values.choice('terms.starts', STARTS);
  if (starts === 'none') return null;
  return {
    channels: values.list('terms.channels'),
    territory: values.orNull('terms.territory'),
    days: values.someNumber('terms.days') ?? null,
    starts,
    starts_on: values.orNull('terms.starts_on'),
  };
}

const lastTime = (date: string | null) => date && toDayEnd(date);

const changeIn = (values: Values, contract: Contract, entries: readonly Entry[]) =>
  changed(
    {
      creator_email: values.text('creator_email'),
      campaign_id: values.orNull('campaign_id'),
      title: values.text('title'),
      compensation: compensationIn(values),
      expires_at: lastTime(values.orNull('expires_at')),
      usage_rights: values.orNull('usage_rights'),
      terms: termsIn(values),
      deliverables: entries.map((_, place) => entryIn(values, place)),
    },
    { ...contract, expires_at: lastTime(toDay(contract.expires_at)) },
  );

export function EditContract({ item: contract, isOpen, onClose }: Editing<Contract>) {
  const update = useChange('update_contract', ['list_contracts', 'get_contract', 'list_deliverables']);
  const [entries, setEntries] = useState<readonly Entry[]>(() =>
    contract.deliverables.map((of) => ({ key: crypto.randomUUID(), of })),
  );
  const without = (gone: string) => () => setEntries((all) => all.filter(({ key }) => key !== gone));
  return (
    <FormDialog
      title="Edit the contract"
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      fields={buildFields(contract)}
      groups={[buildTerms(contract), ...entries.map((entry, place) => entryGroup(entry, place, without(entry.key)))]}
      onSubmit={async (values) => {
        const body = changeIn(values, contract, entries);
        if (!isEmpty(body)) await update.mutateAsync({ params: { id: contract.id }, body });
        onClose();
      }}
    >
      <div>
        <Button onPress={() => setEntries((all) => [...all, { key: crypto.randomUUID() }])}>Add a deliverable</Button>
      </div>
    </FormDialog>
  );
}
