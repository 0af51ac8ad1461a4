import { useLayoutEffect, useRef, useState } from 'react';
import { counted, money, type Noun } from './format.ts';

interface Sums {
  currency: string;
  count: number;
}

interface TotalsProps<Row extends Sums> {
  /** Describes the sums for people who cannot see them. */
  label: string;
  noun: Noun;
  /** Undefined until they are read. */
  of: readonly Row[] | undefined;
  /** The field of a sum, its name, and the head of its column if that is another. */
  sums: readonly (readonly [field: string, name: string, column?: string])[];
  note?: string;
}

/** A sum in words, or a short form of it, which says the whole where the pointer rests on it. */
type Sum = string | { short: string; whole: string };

interface FootProps {
  /** Describes the sums for people who cannot see them. */
  label: string;
  /** Each sum stands below the column whose head is its name, or is given. */
  lines: readonly { count: string; sums: readonly (readonly [name: string, sum: Sum, column?: string])[] }[];
  note?: string | undefined;
}

const ShownSum = ({ of }: { of: Sum }) =>
  typeof of === 'string' ? <strong>{of}</strong> : <strong title={of.whole}>{of.short}</strong>;

/** A narrower table has no room for sums beside their count, in pixels. */
const NARROW = 600;

/** The distance of each column's right edge from that of the table above, by the column's head. */
function useColumnEdges() {
  const section = useRef<HTMLElement>(null);
  const [edges, setEdges] = useState<ReadonlyMap<string, number>>(new Map());
  useLayoutEffect(() => {
    const table = section.current?.previousElementSibling?.querySelector('table');
    if (!table) return;
    const measure = () => {
      const { right, width } = table.getBoundingClientRect();
      const all = width < NARROW ? [] : [...table.querySelectorAll<HTMLElement>('th.number')];
      const heads = all.filter((head) => head.offsetWidth > 0);
      setEdges(
        new Map(
          heads.map((head) => [
            (head.textContent ?? '').replace(/\s*[↑↓↕]$/, ''),
            right - head.getBoundingClientRect().right,
          ]),
        ),
      );
    };
    const watch = new ResizeObserver(measure);
    for (const element of [table, ...table.querySelectorAll('th')]) watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return { section, edges };
}

/** Keeps the place of the sums while they are read, so that nothing jumps when they come. */
export const ReadFoot = ({ hasNote = false }: { hasNote?: boolean }) => (
  <section className="totals aligned" aria-hidden>
    <ul className="plain">
      <li>
        <span className="bone name" />
      </li>
    </ul>
    {hasNote && (
      <p className="second">
        <span className="bone note" />
      </p>
    )}
  </section>
);

/** The count and sums of all rows that match a list's filters, below their columns where all of them are in sight. */
export function Foot({ label, lines, note }: FootProps) {
  const { section, edges } = useColumnEdges();
  const isAligned = lines.every(({ sums }) => sums.every(([name, , column = name]) => edges.has(column)));
  return (
    <section ref={section} className={isAligned ? 'totals aligned' : 'totals'} aria-label={label}>
      <ul className="plain">
        {lines.map(({ count, sums }) => (
          <li key={`${count} ${sums.map(([name]) => name).join(' ')}`}>
            <span>{count}</span>
            {sums.map(([name, sum, column = name]) => (
              <span key={name} style={isAligned ? { insetInlineEnd: edges.get(column) } : undefined}>
                {name} <ShownSum of={sum} />
              </span>
            ))}
          </li>
        ))}
      </ul>
      {note && <p className="second">{note}</p>}
    </section>
  );
}

/** The sum of commissions in each currency, such as `$120.00 + €40.00`. */
export function sumUp(commissions: Iterable<{ currency: string; commission: number }>): string {
  const sums = new Map<string, number>();
  for (const { currency, commission } of commissions) sums.set(currency, (sums.get(currency) ?? 0) + commission);
  return [...sums]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([currency, sum]) => money(sum, currency))
    .join(' + ');
}

/** The same of money, by currency. */
export function Totals<Row extends Sums>({ label, noun, of, sums, note }: TotalsProps<Row>) {
  if (of === undefined) return <ReadFoot hasNote={note !== undefined} />;
  if (of.length === 0) return null;
  const lines = of.map((row) => ({
    count: counted(row.count, noun),
    sums: sums.map(
      ([field, name, column = name]) => [name, money(Number(Reflect.get(row, field)), row.currency), column] as const,
    ),
  }));
  return <Foot label={label} lines={lines} note={note} />;
}
