import { counted, money, type Noun } from './format.ts';

interface Sums {
  currency: string;
  count: number;
}

interface TotalsProps<Row extends Sums> {
  /** Describes the sums for people who cannot see them. */
  label: string;
  noun: Noun;
  of: readonly Row[] | undefined;
  sums: readonly (readonly [name: string, label: string])[];
  note?: string;
}

/** The count and sums of all rows that match a list's filters, by currency. */
export function Totals<Row extends Sums>({ label, noun, of = [], sums, note }: TotalsProps<Row>) {
  if (of.length === 0) return null;
  return (
    <section className="totals" aria-label={label}>
      <ul className="plain">
        {of.map((row) => (
          <li key={row.currency}>
            <span>{counted(row.count, noun)}</span>
            {sums.map(([name, text]) => (
              <span key={name}>
                {text} <strong>{money(Number(Reflect.get(row, name)), row.currency)}</strong>
              </span>
            ))}
          </li>
        ))}
      </ul>
      {note && <p className="second">{note}</p>}
    </section>
  );
}
