import { createContext, type HTMLAttributes, type ReactNode, useContext } from 'react';
import type { Problem } from '../call/call.ts';
import { Labelled } from '../kit/form.tsx';
import { Button } from '../kit/parts.tsx';
import { type AmountDraft, newAmount } from './terms-draft.ts';

/** `terms.rules[3].when.country[0]` as `terms.rules.3.when.country.0`. */
const toPath = (field: string) => field.replace(/\[(\d+)\]/g, '.$1');

export const Problems = createContext<readonly Problem[]>([]);

/** The error of a field; `isWhole`: or else of one of its parts, which have no place of their own. */
export function useProblem(path: string, isWhole = false): string | undefined {
  const problems = useContext(Problems).map(({ field, message }) => ({ field: toPath(field), message }));
  const own = problems.find(({ field }) => field === path);
  return (own ?? (isWhole ? problems.find(({ field }) => field.startsWith(`${path}.`)) : undefined))?.message;
}

interface InputProps {
  /** The path at which the API finds it, such as `terms.rate.percent`. */
  path: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  isOptional?: boolean;
  type?: 'text' | 'number' | 'date';
  inputMode?: HTMLAttributes<HTMLInputElement>['inputMode'];
  isLong?: boolean;
}

/** A text or a number with its label and its error. */
export function TextInput({ path, label, value, onChange, hint, isOptional, type = 'text', isLong }: InputProps) {
  const problem = useProblem(path, true);
  return (
    <Labelled label={label} hint={hint} problem={problem} isRequired={!isOptional}>
      {(input) =>
        isLong ? (
          <textarea {...input} rows={3} value={value} onChange={({ target }) => onChange(target.value)} />
        ) : (
          <input
            {...input}
            type={type}
            {...(type === 'number' ? { min: 0, step: 'any' } : {})}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Labelled>
  );
}

interface SelectProps<T extends string> {
  path: string;
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string])[];
  onChange: (value: T) => void;
  hint?: ReactNode;
}

/** One of a few values with its label and its error. */
export function SelectInput<T extends string>({ path, label, value, options, onChange, hint }: SelectProps<T>) {
  const problem = useProblem(path);
  return (
    <Labelled label={label} hint={hint} problem={problem} isRequired>
      {(input) => (
        <select
          {...input}
          value={value}
          onChange={({ target }) => onChange(options.find(([one]) => one === target.value)?.[0] ?? value)}
        >
          {options.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

interface AmountsProps {
  path: string;
  label: string;
  /** The brand's currency, which comes first. */
  currency: string;
  amounts: readonly AmountDraft[];
  onChange: (amounts: readonly AmountDraft[]) => void;
  hint?: string;
  /** The button that adds the first amount of a limit that may be left out. */
  addFirst?: string;
}

/** Amounts by currency, each currency once. */
export function AmountInputs({ path, label, currency, amounts, onChange, hint, addFirst }: AmountsProps) {
  const whole = useProblem(path);
  const takenCurrencies = new Set(amounts.map((one) => one.currency));
  const all = [currency, ...Intl.supportedValuesOf('currency').filter((code) => code !== currency)];
  const next = all.find((code) => !takenCurrencies.has(code)) ?? currency;
  const change = (key: string, part: Partial<AmountDraft>) =>
    onChange(amounts.map((one) => (one.key === key ? { ...one, ...part } : one)));
  const mayBeEmpty = addFirst !== undefined;
  return (
    <fieldset className="field">
      <legend>
        {label}
        {mayBeEmpty && <span className="optional"> optional</span>}
      </legend>
      {whole && <p className="problem">{whole}</p>}
      {amounts.map((one) => (
        <AmountRow
          key={one.key}
          of={one}
          path={`${path}.${one.currency}`}
          label={label}
          currencies={all.filter((code) => code === one.currency || !takenCurrencies.has(code))}
          onChange={(part) => change(one.key, part)}
          {...(mayBeEmpty || amounts.length > 1
            ? { onRemove: () => onChange(amounts.filter(({ key }) => key !== one.key)) }
            : {})}
        />
      ))}
      {hint && <p className="hint">{hint}</p>}
      <div>
        <Button
          onPress={() => onChange([...amounts, newAmount(next)])}
          label={amounts.length === 0 ? (addFirst ?? `${label}: add an amount`) : `${label}: add a currency`}
        >
          {amounts.length === 0 ? (addFirst ?? 'Add an amount') : 'Add a currency'}
        </Button>
      </div>
    </fieldset>
  );
}

interface AmountRowProps {
  of: AmountDraft;
  path: string;
  label: string;
  currencies: readonly string[];
  onChange: (part: Partial<AmountDraft>) => void;
  onRemove?: () => void;
}

function AmountRow({ of: { amount, currency }, path, label, currencies, onChange, onRemove }: AmountRowProps) {
  const problem = useProblem(path);
  return (
    <>
      {problem && (
        <p className="problem">
          {currency}: {problem}
        </p>
      )}
      <div className="amount-row">
        <input
          type="number"
          min="0"
          step="any"
          required
          aria-label={`${label}, in ${currency}`}
          aria-invalid={problem ? true : undefined}
          value={amount}
          onChange={({ target }) => onChange({ amount: target.value })}
        />
        <select
          aria-label={`${label}, currency`}
          value={currency}
          onChange={({ target }) => onChange({ currency: target.value })}
        >
          {currencies.map((code) => (
            <option key={code}>{code}</option>
          ))}
        </select>
        {onRemove && (
          <Button kind="quiet" onPress={onRemove} label={`Remove ${label}, ${currency}`}>
            ✕
          </Button>
        )}
      </div>
    </>
  );
}
