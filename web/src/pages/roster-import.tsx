import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { CallError, call } from '../call/call.ts';
import { readCsv } from '../kit/csv.ts';
import { Dialog } from '../kit/dialog.tsx';
import { number } from '../kit/format.ts';
import { Badge, Button, Failure, Loading } from '../kit/parts.tsx';
import { listed, Table } from '../kit/table.tsx';

type Plan = 'add' | 'already on the roster' | 'repeated in the file' | 'no valid e-mail' | 'added' | 'refused';

interface Line {
  id: string;
  email: string;
  note: string;
  plan: Plan;
  why?: string;
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const NAMES = ['email', 'creator_email', 'e-mail', 'mail'];

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

/** What the import will do with each line, for review before it starts. */
async function planOf(text: string): Promise<Line[]> {
  const rows = readCsv(text);
  const [head = [], ...rest] = rows;
  const names = head.map((name) => name.trim().toLowerCase());
  const at = names.findIndex((name) => NAMES.includes(name));
  const note = names.indexOf('note');
  const known = await knownEmails();
  const seen = new Set<string>();
  return (at < 0 ? rows : rest).map((row, i) => {
    const email = (row[Math.max(at, 0)] ?? '').trim();
    const key = email.toLowerCase();
    const line = { id: String(i), email, note: note < 0 ? '' : (row[note] ?? '').trim() };
    if (!EMAIL.test(email)) return { ...line, plan: 'no valid e-mail' };
    if (known.has(key)) return { ...line, plan: 'already on the roster' };
    if (seen.has(key)) return { ...line, plan: 'repeated in the file' };
    seen.add(key);
    return { ...line, plan: 'add' };
  });
}

const TONE: Readonly<Record<Plan, string>> = {
  ...{ add: 'pending', added: 'active', refused: 'rejected' },
  ...{ 'already on the roster': 'skipped', 'repeated in the file': 'skipped', 'no valid e-mail': 'failed' },
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Lines are added as fast as the API accepts them. */
async function addLine(line: Line): Promise<Line> {
  try {
    await call('add_to_roster', { body: { creator_email: line.email, note: line.note || null } });
    return { ...line, plan: 'added' };
  } catch (error) {
    if (error instanceof CallError && error.status === 429) {
      await pause(Math.max(error.retryAfterMs, 1_000));
      return await addLine(line);
    }
    if (error instanceof CallError && error.code === 'ALREADY_ON_ROSTER')
      return { ...line, plan: 'already on the roster' };
    return {
      ...line,
      plan: 'refused',
      why: error instanceof Error ? error.message : 'Something went wrong. Try again.',
    };
  }
}

export function ImportDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const cache = useQueryClient();
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Error>();
  const isStopped = useRef(false);
  const count = (plan: Plan) => lines.filter((line) => line.plan === plan).length;

  async function read(file: File | undefined) {
    if (!file) return;
    setBusy(true);
    setFailure(undefined);
    try {
      setLines(await planOf(await file.text()));
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error('The file could not be read.'));
    } finally {
      setBusy(false);
    }
  }

  async function run() {
    setBusy(true);
    isStopped.current = false;
    const done = [...lines];
    for (const [i, line] of done.entries()) {
      if (line.plan !== 'add') continue;
      done[i] = await addLine(line);
      if (isStopped.current) break;
      setLines([...done]);
    }
    setBusy(false);
    await cache.invalidateQueries({ queryKey: ['list_roster'] });
  }

  const close = () => {
    isStopped.current = true;
    setLines([]);
    onClose();
  };
  return (
    <Dialog
      title="Import creators"
      hint="A CSV file with an “email” column and, optionally, “note”. You can review the result before anything is added."
      isOpen={isOpen}
      onClose={close}
    >
      <div className="field">
        <label htmlFor="import-file">File</label>
        <input
          id="import-file"
          type="file"
          accept=".csv,text/csv,text/plain"
          onChange={({ target }) => void read(target.files?.[0])}
        />
      </div>
      {failure && <Failure error={failure} />}
      {isBusy && lines.length === 0 && <Loading rows={3} />}
      {lines.length > 0 && (
        <>
          <p role="status">
            {number(count('add'))} to add, {number(count('added'))} added, {number(count('already on the roster'))}{' '}
            already on the roster, {number(count('repeated in the file'))} repeated in the file,{' '}
            {number(count('no valid e-mail'))} without a valid e-mail, {number(count('refused'))} refused.
          </p>
          <Table
            caption="Result for each line"
            list={listed(lines)}
            empty={undefined}
            columns={[
              {
                head: 'E-mail',
                cell: ({ email, why }) => (
                  <>
                    {email || '(none)'}
                    {why && <span className="second">{why}</span>}
                  </>
                ),
              },
              {
                head: 'Result',
                cell: ({ plan }) => (
                  <span className="row">
                    <Badge state={TONE[plan]} /> {plan}
                  </span>
                ),
              },
            ]}
          />
        </>
      )}
      <div className="popup-foot">
        <Button onPress={close}>{isBusy ? 'Stop' : 'Close'}</Button>
        <Button kind="primary" isBusy={isBusy} isDisabled={count('add') === 0} onPress={() => void run()}>
          Add {number(count('add'))} creators
        </Button>
      </div>
    </Dialog>
  );
}
