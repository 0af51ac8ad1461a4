import { useState } from 'react';
import { type Body, call } from '../call/call.ts';
import { type ColumnNames, findLineProblem, parseAmount, parseTime, readColumns } from '../kit/csv-columns.ts';
import { CsvImport, type ImportLine } from '../kit/csv-import.tsx';
import { number } from '../kit/format.ts';
import { isRefused } from '../kit/refused.ts';

type Reported = Body<'report_past_commissions'>['past_commissions'][number];

interface Line extends ImportLine {
  plan: 'record' | 'recorded' | 'cannot be read' | 'refused';
  paid: Reported;
}

const PLANS = [
  ['record', 'pending', 'to record'],
  ['recorded', 'active', 'recorded, or known already'],
  ['cannot be read', 'failed', 'that cannot be read'],
  ['refused', 'rejected', 'refused'],
] as const;

/** Columns by the names that other tools give them in their own files. */
const COLUMNS: ColumnNames<'creator_email' | 'amount' | 'currency' | 'paid_at' | 'reference'> = {
  creator_email: ['creator_email', 'email', 'e-mail', 'creator email', 'affiliate email', 'partner email'],
  amount: ['amount', 'commission', 'commission amount', 'payout', 'payout amount', 'total'],
  currency: ['currency'],
  paid_at: ['paid_at', 'paid at', 'date', 'payment date', 'date paid', 'paid on'],
  reference: ['reference', 'order_id', 'order id', 'order number', 'payout id', 'payment id', 'id'],
};

/** Lines without a reference get one from what they say, so that importing a file again records nothing twice. */
async function planLines(text: string): Promise<Line[]> {
  const seen = new Map<string, number>();
  return readColumns(text, COLUMNS, ['creator_email', 'amount', 'currency', 'paid_at']).map((cell, i) => {
    const [email, at, currency] = [cell('creator_email'), parseTime(cell('paid_at')), cell('currency').toUpperCase()];
    const amount = parseAmount(cell('amount'));
    const why = email === '' ? 'It has no e-mail address.' : findLineProblem(at, amount, currency);
    const said = `${email} ${cell('paid_at')} ${cell('amount')}`;
    const count = (seen.get(said) ?? 0) + 1;
    seen.set(said, count);
    const reference = cell('reference') || (count > 1 ? `${said} (${count})` : said);
    const paid = { creator_email: email, amount, currency, paid_at: at ?? '', reference };
    const name = cell('reference') === '' ? said : `${reference}, ${email}`;
    return { id: String(i), name, plan: why === undefined ? 'record' : 'cannot be read', why, paid };
  });
}

/** Records the lines. A refused one keeps the others from being recorded, which are then sent again. */
async function send(source: string, lines: readonly Line[]): Promise<Line[]> {
  if (lines.length === 0) return [];
  try {
    await call('report_past_commissions', { body: { source, past_commissions: lines.map(({ paid }) => paid) } });
    return lines.map((line) => ({ ...line, plan: 'recorded' }));
  } catch (error) {
    if (!isRefused(error)) throw error;
    const reasons = new Map(error.problems.map(({ field, message }) => [Number(field.split('.')[1]), message]));
    const isNamed = (_: Line, i: number) => reasons.size === 0 || reasons.has(i);
    const why = (i: number) => reasons.get(i) ?? error.message;
    const refused = lines.flatMap((line, i): Line[] =>
      isNamed(line, i) ? [{ ...line, plan: 'refused', why: why(i) }] : [],
    );
    const others = lines.filter((line, i) => !isNamed(line, i));
    return [...refused, ...(refused.length === 0 ? [] : await send(source, others))];
  }
}

/** Reads what creators were paid with another tool from a file. */
export function PastCommissionImport({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [source, setSource] = useState('Before Rollcall');
  return (
    <CsvImport
      title="Import past commissions"
      hint="A CSV file with columns “email”, “amount”, “currency”, “date” (UTC) and, optionally, “reference”. The creators must be on the roster. Nobody is paid by it, and balances, statements and figures stay as they are."
      head="Past commission"
      planLines={planLines}
      plans={PLANS}
      batch={100}
      send={(lines) => send(source, lines)}
      action={(count) => `Record ${number(count)} ${count === 1 ? 'commission' : 'commissions'}`}
      changes="list_past_commissions"
      isOpen={isOpen}
      onClose={onClose}
    >
      <div className="field">
        <label htmlFor="import-source">Paid with</label>
        <input
          id="import-source"
          maxLength={100}
          value={source}
          onChange={({ target }) => setSource(target.value)}
          aria-describedby="import-source-hint"
        />
        <p className="hint" id="import-source-hint">
          The other tool. Use the same name to import a file again without recording anything twice.
        </p>
      </div>
    </CsvImport>
  );
}
