import { useId } from 'react';
import type { Answer } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { Failure } from '../kit/parts.tsx';

type Import = Answer<'get_import'>['data'];
type ImportOption = keyof Import['options'];

/** The choice of what is written, by kind of file. */
const OPTIONS: Readonly<Partial<Record<Import['of'], readonly [name: ImportOption, label: string, hint: string]>>> = {
  orders: [
    'pays',
    'Pay creators for these orders',
    'By the codes in the file, as a shop that cannot be connected reports its orders. Otherwise they are history and pay nobody. It cannot be undone.',
  ],
  commissions: [
    'add_creators',
    'Add creators who are not on the roster',
    'By their email address. Otherwise their lines are refused.',
  ],
  payouts: [
    'create',
    'Record payments without an open payout',
    'Each becomes a payout that is paid. Otherwise such lines are refused.',
  ],
};

/** Chooses what is written. The file is compared again after each change. */
export function ImportOptions({ of }: { of: Import }) {
  const id = useId();
  const patch = useChange('update_import', ['get_import', 'list_imports']);
  const option = OPTIONS[of.of];
  if (!option) return null;
  const [name, label, hint] = option;
  return (
    <div className="field">
      {patch.error && <Failure error={patch.error} />}
      <label className="option">
        <input
          type="checkbox"
          checked={of.options[name] === true}
          disabled={patch.isPending}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) =>
            patch.mutate({ params: { id: of.id }, body: { options: { [name]: target.checked ? true : null } } })
          }
        />
        {label}
      </label>
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}

const ORDERS = [
  ['dmy', 'Day, month, year'],
  ['mdy', 'Month, day, year'],
  ['ymd', 'Year, month, day'],
] as const;
const DECIMALS = [
  ['.', '1,250.50'],
  [',', '1.250,50'],
] as const;
const UNITS = [
  ['major', '125.50 is 125.50'],
  ['minor', '12550 is 125.50'],
] as const;
const ENCODINGS = [
  ...['utf-8', 'utf-16le', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254'],
  ...['windows-1255', 'windows-1256', 'shift_jis', 'euc-jp', 'euc-kr', 'big5', 'gb18030'],
];

type Choices = readonly (readonly [value: string, label: string])[];

const withCurrent = (current: string, choices: readonly string[]): Choices =>
  [...new Set([current, ...choices])].map((value) => [value, value] as const);

/** How dates, amounts and text are read, each changeable. */
export function ImportReadings({ of }: { of: Import }) {
  const id = useId();
  const patch = useChange('update_import', ['get_import', 'list_imports']);
  const { readings, text } = of;
  if (!readings) return null;
  const differing = text?.differing ?? [];
  const zones = withCurrent(readings.time_zone, Intl.supportedValuesOf('timeZone'));
  const fields: readonly [name: string, label: string, value: string | null | undefined, choices: Choices][] = [
    ['dates', 'Dates are', readings.dates, ORDERS],
    ['time_zone', 'Times that say no zone are in', of.of === 'roster' ? null : readings.time_zone, zones],
    ['decimal', 'Decimals are written as', readings.decimal, DECIMALS],
    ['unit', 'Amounts are written as', readings.decimal === null ? null : readings.unit, UNITS],
    ['encoding', 'The text is in', text?.sheet ? null : text?.encoding, withCurrent(text?.encoding ?? '', ENCODINGS)],
  ];
  return (
    <>
      {patch.error && <Failure error={patch.error} />}
      {fields.map(
        ([name, label, value, choices]) =>
          value != null && (
            <div className="field" key={name}>
              <label htmlFor={`${id}-${name}`}>{label}</label>
              <select
                id={`${id}-${name}`}
                value={value}
                disabled={patch.isPending}
                onChange={({ target }) =>
                  patch.mutate({ params: { id: of.id }, body: { mapping: { [name]: target.value } } })
                }
              >
                {choices.map(([choice, label]) => (
                  <option key={choice} value={choice}>
                    {label}
                  </option>
                ))}
              </select>
              {name === 'encoding' && differing.length > 0 && (
                <p className="hint">{differing.map(({ line, text: cell }) => `Line ${line}: ${cell}`).join(' · ')}</p>
              )}
            </div>
          ),
      )}
    </>
  );
}
