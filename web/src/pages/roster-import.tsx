import { call } from '../call/call.ts';
import { readCsv } from '../kit/csv.ts';
import { CsvImport, type ImportLine } from '../kit/csv-import.tsx';
import { number } from '../kit/format.ts';
import { isRefused } from '../kit/refused.ts';

type Plan = 'add' | 'already on the roster' | 'repeated in the file' | 'no valid e-mail' | 'added' | 'refused';

interface Line extends ImportLine {
  note: string;
  plan: Plan;
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const NAMES = ['email', 'creator_email', 'e-mail', 'mail'];

const PLANS = [
  ['add', 'pending', 'to add'],
  ['added', 'active', 'added'],
  ['already on the roster', 'skipped', 'already on the roster'],
  ['repeated in the file', 'skipped', 'repeated in the file'],
  ['no valid e-mail', 'failed', 'without a valid e-mail'],
  ['refused', 'rejected', 'refused'],
] as const;

async function knownEmails(): Promise<Set<string>> {
  const known = new Set<string>();
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await call('list_roster', { query: { limit: 100, page } });
    for (const { creator_email, status } of data) {
      if (creator_email && status !== 'removed') known.add(creator_email.toLowerCase());
    }
    if (!pagination.has_more) return known;
  }
}

async function planLines(text: string): Promise<Line[]> {
  const rows = readCsv(text);
  const [head = [], ...rest] = rows;
  const names = head.map((name) => name.trim().toLowerCase());
  const at = names.findIndex((name) => NAMES.includes(name));
  const note = names.indexOf('note');
  const known = await knownEmails();
  const seen = new Set<string>();
  return (at < 0 ? rows : rest).map((row, i) => {
    const name = (row[Math.max(at, 0)] ?? '').trim();
    const key = name.toLowerCase();
    const line = { id: String(i), name, note: note < 0 ? '' : (row[note] ?? '').trim() };
    if (!EMAIL.test(name)) return { ...line, plan: 'no valid e-mail' };
    if (known.has(key)) return { ...line, plan: 'already on the roster' };
    if (seen.has(key)) return { ...line, plan: 'repeated in the file' };
    seen.add(key);
    return { ...line, plan: 'add' };
  });
}

async function addLine(line: Line): Promise<Line> {
  try {
    await call('add_to_roster', { body: { creator_email: line.name, note: line.note || null } });
    return { ...line, plan: 'added' };
  } catch (error) {
    if (!isRefused(error)) throw error;
    if (error.code === 'ALREADY_ON_ROSTER') return { ...line, plan: 'already on the roster' };
    return { ...line, plan: 'refused', why: error.message };
  }
}

export function ImportDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <CsvImport
      title="Import creators"
      hint="A CSV file with an “email” column and, optionally, “note”. You can review the result before anything is added."
      head="E-mail"
      planLines={planLines}
      plans={PLANS}
      batch={1}
      send={(lines) => Promise.all(lines.map(addLine))}
      action={(count) => `Add ${number(count)} ${count === 1 ? 'creator' : 'creators'}`}
      changes="list_roster"
      isOpen={isOpen}
      onClose={onClose}
    />
  );
}
