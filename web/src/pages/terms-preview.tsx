import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, send } from '../call/call.ts';
import { createAnswerCheck } from '../call/check.ts';
import type { ReadBody } from '../kit/declared.ts';
import { Choose } from '../kit/filters.tsx';
import { Labelled } from '../kit/form.tsx';
import { minorMoney } from '../kit/format.ts';
import { useLater } from '../kit/later.ts';
import { PlainTable } from '../kit/table.tsx';
import { CONDITIONS, type ConditionName, type Draft, readDraft } from './terms-draft.ts';

type Priced = Answer<'preview_terms'>['data']['orders'][number];

/** An order that somebody makes up to try terms. */
interface Trial {
  amount: string;
  product: string;
  category: string;
  customer: string;
  country: string;
  kind: string;
  by: string;
  payment: string;
}

const START: Trial = {
  amount: '100',
  product: '',
  category: '',
  customer: 'new',
  country: '',
  kind: 'once',
  by: 'code',
  payment: '1',
};

const TEXTS = [
  ['product', 'Product'],
  ['category', 'Category'],
  ['country', 'Country'],
  ['payment', 'Payment number'],
] as const;
const CHOICES = ['customer', 'kind', 'by'] as const;

function toOrder(trial: Trial, currency: string): ReadBody {
  const { amount, product, category, customer, country, kind, by, payment } = trial;
  const line = { sku: product || null, categories: category ? [category] : null, amount: Number(amount) };
  return {
    currency,
    amount: Number(amount),
    placed_at: new Date().toISOString(),
    items: [line],
    facts: { customer, country: country.toUpperCase() || null, kind, by, payment: Number(payment) || 1 },
  };
}

/** The deal in a sentence, and what an order would pay; undefined while the terms are incomplete. */
function usePreview(draft: Draft, trial: Trial, currency: string) {
  const settledInput = useLater(JSON.stringify({ terms: readDraft(draft), trial }), 400);
  return useQuery<Answer<'preview_terms'>>({
    queryKey: ['preview_terms', settledInput, currency],
    queryFn: () =>
      send(
        'preview_terms',
        { body: { terms: readDraft(draft), orders: [toOrder(trial, currency)] } },
        createAnswerCheck('preview_terms'),
      ),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
}

function Result({ of: { commission_minor, uncapped_minor, parts }, currency }: { of: Priced; currency: string }) {
  const cutMinor = uncapped_minor - commission_minor;
  return (
    <>
      <p>
        It pays <strong>{minorMoney(commission_minor, currency)}</strong>
        {cutMinor > 0 && `, ${minorMoney(cutMinor, currency)} less by a limit`}.
      </p>
      {parts.length > 1 && (
        <PlainTable
          caption="What each rule pays"
          rows={parts}
          getKey={({ rule }) => String(rule)}
          columns={[
            { head: 'Rule', cell: ({ name }) => name ?? 'No rule' },
            { head: 'Of', cell: ({ amount_minor }) => minorMoney(amount_minor, currency), isNumber: true },
            { head: 'Pays', cell: (part) => minorMoney(part.commission_minor, currency), isNumber: true },
          ]}
        />
      )}
    </>
  );
}

/** Says the deal as it is typed, and tries it on an order. Only what a rule asks for can be entered. */
export function TermsPreview({ draft, currency }: { draft: Draft; currency: string }) {
  const [trial, setTrial] = useState(START);
  const { data, error } = usePreview(draft, trial, currency);
  const asks = (name: ConditionName) =>
    draft.rules.some(({ conditions }) => conditions.some((condition) => condition.name === name));
  const changeTrial = (part: Partial<Trial>) => setTrial((now) => ({ ...now, ...part }));
  const preview = error ? undefined : data?.data;
  const [order] = preview?.orders ?? [];
  return (
    <section className="note-box stack" aria-label="The deal">
      <p aria-live="polite">{preview?.summary ?? 'The deal in a sentence appears here once the terms are complete.'}</p>
      <div className="two">
        <Labelled label={`Try an order, in ${currency}`} isRequired>
          {({ id }) => (
            <input
              id={id}
              type="number"
              min="0"
              step="any"
              value={trial.amount}
              onChange={({ target }) => changeTrial({ amount: target.value })}
            />
          )}
        </Labelled>
        {TEXTS.filter(([name]) => asks(name)).map(([name, label]) => (
          <Labelled key={name} label={label} isRequired>
            {({ id }) => (
              <input id={id} value={trial[name]} onChange={({ target }) => changeTrial({ [name]: target.value })} />
            )}
          </Labelled>
        ))}
        {CHOICES.filter(asks).map((name) => (
          <Choose
            ofForm
            key={name}
            label={CONDITIONS[name].label}
            value={trial[name]}
            options={Object.entries(CONDITIONS[name].options ?? {})}
            onChoose={(value) => changeTrial({ [name]: value })}
          />
        ))}
      </div>
      {order && <Result of={order} currency={currency} />}
    </section>
  );
}
