import { useState } from 'react';
import type { Problem } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { Choose } from '../kit/filters.tsx';
import type { OwnInputs } from '../kit/form.tsx';
import { CAPS, type CapName, type Draft, readDraft, type Terms, toDraft } from './terms-draft.ts';
import { AmountInputs, Problems, SelectInput, TextInput, useProblem } from './terms-inputs.tsx';
import { type SimulatedPlace, TermsPast } from './terms-past.tsx';
import { TermsPreview } from './terms-preview.tsx';
import { RateInputs, RuleInputs } from './terms-rules.tsx';

const COVERS: readonly (readonly [Terms['covers'], string])[] = [
  ['order', 'The order that the code or click won'],
  ['subscription', 'Also renewals of its subscription'],
  ['customer', 'All later orders of the customer'],
];

const CAP_LABELS: Readonly<Record<CapName, { label: string; addFirst: string }>> = {
  order: { label: 'At most for an order', addFirst: 'Limit each order' },
  customer: { label: 'At most for a customer', addFirst: 'Limit each customer' },
  month: { label: 'At most for a creator in a month', addFirst: 'Limit each month' },
};

interface InputsProps {
  draft: Draft;
  currency: string;
  onChange: (draft: Draft) => void;
}

function CoverInputs({ draft, onChange }: Omit<InputsProps, 'currency'>) {
  return (
    <>
      <SelectInput
        path="terms.covers"
        label="Pays for"
        value={draft.covers}
        options={COVERS}
        onChange={(covers) => onChange({ ...draft, covers })}
      />
      {draft.covers !== 'order' && (
        <div className="two">
          <TextInput
            path="terms.months"
            label="Months"
            type="number"
            isOptional
            value={draft.months}
            onChange={(months) => onChange({ ...draft, months })}
            hint="After the first payment. Empty: without end."
          />
          <TextInput
            path="terms.payments"
            label="Payments"
            type="number"
            isOptional
            value={draft.payments}
            onChange={(payments) => onChange({ ...draft, payments })}
            hint="The first included. Empty: all."
          />
        </div>
      )}
    </>
  );
}

function LimitInputs({ draft, currency, onChange }: InputsProps) {
  const problem = useProblem('terms.caps');
  const chooseBudget = (budgetPer: Draft['budgetPer']) => onChange({ ...draft, budgetPer });
  return (
    <section className="stack" aria-label="Limits">
      <h3>Limits</h3>
      {problem && <p className="problem">{problem}</p>}
      {CAPS.map((name) => (
        <AmountInputs
          key={name}
          path={`terms.caps.${name}`}
          {...CAP_LABELS[name]}
          currency={currency}
          amounts={draft.caps[name]}
          onChange={(amounts) => onChange({ ...draft, caps: { ...draft.caps, [name]: amounts } })}
        />
      ))}
      <SelectInput
        path="terms.budget"
        label="Budget for all orders under these terms"
        value={draft.budgetPer}
        options={[
          ['none', 'None'],
          ['month', 'For each month'],
          ['ever', 'In all'],
        ]}
        onChange={chooseBudget}
        hint="Whoever earns. Orders pay nothing once it is spent."
      />
      {draft.budgetPer !== 'none' && (
        <AmountInputs
          path="terms.budget.amount"
          label="Budget"
          currency={currency}
          amounts={draft.budget}
          onChange={(budget) => onChange({ ...draft, budget })}
        />
      )}
    </section>
  );
}

/** The place that the terms are for; undefined for one that does not exist yet, which has no past. */
type EditedPlace = { of: SimulatedPlace } | undefined;

/** All that terms can say. */
function TermsInputs({
  problems,
  place,
  ...props
}: InputsProps & { problems: readonly Problem[]; place: EditedPlace }) {
  const { draft, currency, onChange } = props;
  return (
    <Problems value={problems}>
      <RateInputs
        path="terms.rate"
        label="Pays"
        rate={draft.rate}
        currency={currency}
        onChange={(rate) => onChange({ ...draft, rate })}
      />
      <CoverInputs draft={draft} onChange={onChange} />
      <RuleInputs rules={draft.rules} currency={currency} onChange={(rules) => onChange({ ...draft, rules })} />
      <LimitInputs {...props} />
      <TermsPreview draft={draft} currency={currency} />
      {place && <TermsPast draft={draft} of={place.of} />}
    </Problems>
  );
}

const useBrandCurrency = () => useCall('get_session').data?.data.brand.currency ?? 'USD';

/** The inputs of a form's field `terms`. They begin with `start`, and keep what is typed. */
export function useTermsInputs(start: Terms, place?: EditedPlace): OwnInputs {
  const [draft, setDraft] = useState(() => toDraft(start));
  const currency = useBrandCurrency();
  return {
    name: 'terms',
    render: (problems) => (
      <TermsInputs problems={problems} place={place} draft={draft} currency={currency} onChange={setDraft} />
    ),
    read: () => readDraft(draft),
  };
}

/** Terms that pay a percentage of the order alone. */
export const plainTerms = (percent: number): Terms => ({
  rate: { percent },
  rules: [],
  covers: 'order',
  months: null,
  payments: null,
  caps: null,
  budget: null,
});

/** A choice above a form: fields that the form has anyway, or terms of its own. */
export function useTermsChoice(label: string, otherwise: string, terms: Terms | null = null, place?: EditedPlace) {
  const [kind, setKind] = useState<'other' | 'terms'>(terms === null ? 'other' : 'terms');
  const rate = useCall('get_brand').data?.data.settings.default_commission_rate ?? 0;
  const inputs = useTermsInputs(terms ?? plainTerms(rate), place);
  const choice = (
    <Choose
      ofForm
      label={label}
      value={kind}
      options={[
        ['other', otherwise],
        ['terms', 'Terms: rules, renewals, limits'],
      ]}
      onChoose={setKind}
    />
  );
  return { choice, own: kind === 'terms' ? inputs : undefined };
}

/** A group's deal: terms of its own, or those that apply without. */
export function useDeal(terms: Terms | null = null, place?: EditedPlace): OwnInputs {
  const { choice, own } = useTermsChoice('Deal', 'Use campaign or brand terms', terms, place);
  return {
    name: 'terms',
    read: () => (own ? own.read() : terms === null ? undefined : null),
    render: (problems) => (
      <>
        {choice}
        {own?.render(problems)}
      </>
    ),
  };
}
