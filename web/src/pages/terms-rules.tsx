import { Choose } from '../kit/filters.tsx';
import { Labelled } from '../kit/form.tsx';
import { number } from '../kit/format.ts';
import { Button } from '../kit/parts.tsx';
import {
  CONDITION_NAMES,
  CONDITIONS,
  type ConditionDraft,
  newAmount,
  newCondition,
  newRule,
  type RateDraft,
  type RateKind,
  type RuleDraft,
} from './terms-draft.ts';
import { AmountInputs, SelectInput, TextInput, useProblem } from './terms-inputs.tsx';

const RATE_KINDS: readonly (readonly [RateKind, string])[] = [
  ['percent', 'Percent of the sale'],
  ['order', 'A fixed amount for each order'],
  ['item', 'A fixed amount for each item'],
];

interface RateProps {
  path: string;
  label: string;
  rate: RateDraft;
  currency: string;
  onChange: (rate: RateDraft) => void;
  hint?: string;
}

/** The payment: a percentage, or amounts by currency. */
export function RateInputs({ path, label, rate, currency, onChange, hint }: RateProps) {
  const choose = (kind: RateKind) =>
    onChange({ ...rate, kind, amounts: rate.amounts.length > 0 ? rate.amounts : [newAmount(currency)] });
  return (
    <>
      <SelectInput path={path} label={label} value={rate.kind} options={RATE_KINDS} onChange={choose} hint={hint} />
      {rate.kind === 'percent' ? (
        <TextInput
          path={`${path}.percent`}
          label="Percent"
          type="number"
          value={rate.percent}
          onChange={(percent) => onChange({ ...rate, percent })}
        />
      ) : (
        <AmountInputs
          path={`${path}.flat`}
          label="Amount"
          currency={currency}
          amounts={rate.amounts}
          onChange={(amounts) => onChange({ ...rate, amounts })}
          hint="Orders in other currencies earn nothing by it."
        />
      )}
    </>
  );
}

interface ConditionProps {
  path: string;
  of: ConditionDraft;
  currency: string;
  onChange: (condition: ConditionDraft) => void;
}

function Range({ path, of, onChange }: Omit<ConditionProps, 'currency'>) {
  const { label, kind, hint } = CONDITIONS[of.name];
  const problem = useProblem(path);
  const type = kind === 'numbers' ? 'number' : [of.from, of.to].some((text) => text.includes('T')) ? 'text' : 'date';
  return (
    <fieldset className="field">
      <legend>{label}</legend>
      {problem && <p className="problem">{problem}</p>}
      <div className="two">
        <TextInput
          path={`${path}.from`}
          label="From"
          isOptional
          type={type}
          value={of.from}
          onChange={(from) => onChange({ ...of, from })}
        />
        <TextInput
          path={`${path}.to`}
          label={kind === 'numbers' ? 'To' : 'Before'}
          isOptional
          type={type}
          value={of.to}
          onChange={(to) => onChange({ ...of, to })}
        />
      </div>
      <p className="hint">{hint}</p>
    </fieldset>
  );
}

function Volume({ path, of, currency, onChange }: ConditionProps) {
  const { label, hint } = CONDITIONS.volume;
  const problem = useProblem(path);
  return (
    <fieldset className="field">
      <legend>{label}</legend>
      {problem && <p className="problem">{problem}</p>}
      <div className="two">
        <SelectInput
          path={`${path}.per`}
          label="Within"
          value={of.per}
          options={[
            ['month', 'The same month'],
            ['ever', 'All time'],
          ]}
          onChange={(per) => onChange({ ...of, per })}
        />
        <SelectInput
          path={`${path}.counts`}
          label="Counts"
          value={of.counts}
          options={[
            ['orders', 'Orders'],
            ['revenue', 'Sales'],
          ]}
          onChange={(counts) =>
            onChange({ ...of, counts, amounts: of.amounts.length > 0 ? of.amounts : [newAmount(currency)] })
          }
        />
      </div>
      {of.counts === 'orders' ? (
        <TextInput
          path={`${path}.orders_from`}
          label="At least so many orders"
          type="number"
          value={of.text}
          onChange={(text) => onChange({ ...of, text })}
        />
      ) : (
        <AmountInputs
          path={`${path}.revenue_from`}
          label="At least so much"
          currency={currency}
          amounts={of.amounts}
          onChange={(amounts) => onChange({ ...of, amounts })}
        />
      )}
      <p className="hint">{hint}</p>
    </fieldset>
  );
}

function Choices({ path, of, onChange }: Omit<ConditionProps, 'currency'>) {
  const { label, options = {} } = CONDITIONS[of.name];
  const problem = useProblem(path, true);
  const toggle = (value: string) =>
    of.choices.includes(value) ? of.choices.filter((one) => one !== value) : [...of.choices, value];
  return (
    <fieldset className="field">
      <legend>{label}</legend>
      {problem && <p className="problem">{problem}</p>}
      {Object.entries(options).map(([value, text]) => (
        <Labelled key={value} label={text} isBox>
          {({ id }) => (
            <input
              id={id}
              type="checkbox"
              checked={of.choices.includes(value)}
              onChange={() => onChange({ ...of, choices: toggle(value) })}
            />
          )}
        </Labelled>
      ))}
    </fieldset>
  );
}

/** One condition of a rule, by its kind. */
function Condition({ path, of, currency, onChange }: ConditionProps) {
  const { label, kind, hint, options } = CONDITIONS[of.name];
  const common = { path, of, onChange };
  if (kind === 'numbers' || kind === 'days') return <Range {...common} />;
  if (kind === 'volume') return <Volume {...common} currency={currency} />;
  if (kind === 'choices') return <Choices {...common} />;
  if (kind === 'amounts') {
    return (
      <AmountInputs
        path={path}
        label={label}
        currency={currency}
        amounts={of.amounts}
        onChange={(amounts) => onChange({ ...of, amounts })}
        hint="An order in another currency does not meet it."
      />
    );
  }
  const setText = (text: string) => onChange({ ...of, text });
  if (kind === 'choice' || kind === 'yes_or_no') {
    const choices = Object.entries(options ?? { true: 'Yes', false: 'No' });
    return <SelectInput path={path} label={label} value={of.text} options={choices} onChange={setText} />;
  }
  return (
    <TextInput
      path={path}
      label={label}
      hint={hint}
      value={of.text}
      onChange={setText}
      type={kind === 'number' ? 'number' : 'text'}
      isLong={kind === 'lines'}
    />
  );
}

interface RuleProps {
  place: number;
  of: RuleDraft;
  currency: string;
  onChange: (rule: RuleDraft) => void;
  onRemove: () => void;
  onMoveUp: (() => void) | undefined;
  onMoveDown: (() => void) | undefined;
}

function Rule({ place, of, currency, onChange, onRemove, onMoveUp, onMoveDown }: RuleProps) {
  const path = `terms.rules.${place}`;
  const name = `Rule ${number(place + 1)}`;
  const problem = useProblem(path);
  const ofWhen = useProblem(`${path}.when`);
  const { conditions } = of;
  const change = (next: ConditionDraft) =>
    onChange({ ...of, conditions: conditions.map((one) => (one.name === next.name ? next : one)) });
  const others = CONDITION_NAMES.filter((one) => !conditions.some((condition) => condition.name === one));
  return (
    <fieldset className="group">
      <legend>{name}</legend>
      {[problem, ofWhen].map(
        (text) =>
          text && (
            <p key={text} className="problem">
              {text}
            </p>
          ),
      )}
      <TextInput
        path={`${path}.name`}
        label="Name of the rule"
        value={of.name}
        onChange={(text) => onChange({ ...of, name: text })}
      />
      {conditions.map((condition) => (
        <div key={condition.name} className="condition">
          <Condition path={`${path}.when.${condition.name}`} of={condition} currency={currency} onChange={change} />
          <Button
            kind="quiet"
            label={`${name}: remove the condition ${CONDITIONS[condition.name].label}`}
            onPress={() => onChange({ ...of, conditions: conditions.filter((one) => one !== condition) })}
          >
            ✕
          </Button>
        </div>
      ))}
      {others.length > 0 && (
        <Choose
          ofForm
          label={conditions.length === 0 ? 'Applies to all orders, unless' : 'And only if'}
          value=""
          options={[['', 'Add a condition'], ...others.map((one) => [one, CONDITIONS[one].label] as const)]}
          onChoose={(one) =>
            one !== '' && onChange({ ...of, conditions: [...conditions, newCondition(one, currency)] })
          }
        />
      )}
      <RateInputs
        path={`${path}.rate`}
        label="Then it pays"
        rate={of.rate}
        currency={currency}
        onChange={(rate) => onChange({ ...of, rate })}
        {...(of.rate.kind === 'percent' ? { hint: '0 percent leaves these out.' } : {})}
      />
      <div className="row">
        <Button onPress={() => onMoveUp?.()} isDisabled={!onMoveUp} label={`Move ${name} up`}>
          ↑
        </Button>
        <Button onPress={() => onMoveDown?.()} isDisabled={!onMoveDown} label={`Move ${name} down`}>
          ↓
        </Button>
        <Button onPress={onRemove} label={`Remove ${name}`}>
          Remove
        </Button>
      </div>
    </fieldset>
  );
}

const MAX_RULES = 50;

interface RulesProps {
  rules: readonly RuleDraft[];
  currency: string;
  onChange: (rules: readonly RuleDraft[]) => void;
}

/** Rules in their order: of each line of an order, the first that holds decides. */
export function RuleInputs({ rules, currency, onChange }: RulesProps) {
  const problem = useProblem('terms.rules');
  const swap = (place: number) => onChange(rules.toSpliced(place, 2, ...rules.slice(place, place + 2).toReversed()));
  return (
    <section className="stack" aria-label="Rules">
      <h3>Other rates</h3>
      <p className="hint">
        Of each line of an order, the first rule that holds decides. Where none does, the rate above.
      </p>
      {problem && <p className="problem">{problem}</p>}
      {rules.map((rule, place) => (
        <Rule
          key={rule.key}
          place={place}
          of={rule}
          currency={currency}
          onChange={(next) => onChange(rules.map((one) => (one.key === next.key ? next : one)))}
          onRemove={() => onChange(rules.filter(({ key }) => key !== rule.key))}
          onMoveUp={place === 0 ? undefined : () => swap(place - 1)}
          onMoveDown={place === rules.length - 1 ? undefined : () => swap(place)}
        />
      ))}
      <div>
        <Button onPress={() => onChange([...rules, newRule()])} isDisabled={rules.length >= MAX_RULES}>
          Add a rule
        </Button>
      </div>
    </section>
  );
}
