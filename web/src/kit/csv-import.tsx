import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { type OperationId, whenAccepted } from '../call/call.ts';
import { Dialog } from './dialog.tsx';
import { number } from './format.ts';
import { Badge, Button, Failure, Loading } from './parts.tsx';
import { listed, Table } from './table.tsx';

/** A line of a file, and its outcome. */
export interface ImportLine {
  id: string;
  /** Names the line in the file, such as an order number. */
  name: string;
  plan: string;
  /** Why it was refused. */
  why?: string | undefined;
}

export interface CsvImportProps<L extends ImportLine> {
  title: string;
  hint: ReactNode;
  /** The head of the column that names each line. */
  head: string;
  isOpen: boolean;
  onClose: () => void;
  /** Other fields that `planLines` needs. */
  children?: ReactNode;
  /** Plans each line, so that a person can review the import before it starts. */
  planLines: (text: string) => Promise<L[]>;
  /** Each plan with the sign of its status, and the words that count its lines. The first is that of lines to send. */
  plans: readonly (readonly [plan: L['plan'], tone: string, counted: string])[];
  /** Sends up to `batch` lines, and answers their outcomes. */
  batch: number;
  send: (lines: readonly L[]) => Promise<L[]>;
  action: (count: number) => string;
  /** The list that changes. */
  changes: OperationId;
}

/** Reads a CSV file, shows what will become of each line, and sends what is to be sent. */
export function CsvImport<L extends ImportLine>(props: CsvImportProps<L>) {
  const { title, hint, head, isOpen, onClose, children, planLines, plans, batch, send, action, changes } = props;
  const cache = useQueryClient();
  const [lines, setLines] = useState<readonly L[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Error>();
  /** Counts files and imports, so that an earlier one shows nothing and sends nothing more. */
  const turn = useRef(0);
  const [open] = plans[0] ?? [''];
  const tones = new Map<string, string>(plans.map(([plan, tone]) => [plan, tone]));
  const countLines = (plan: string) => lines.filter((line) => line.plan === plan).length;
  const counts = plans.map(([plan, , counted]) => `${number(countLines(plan))} ${counted}`).join(', ');

  async function whileBusy(work: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    turn.current += 1;
    const own = turn.current;
    const isCurrent = () => own === turn.current;
    setBusy(true);
    setFailure(undefined);
    try {
      await work(isCurrent);
    } catch (error) {
      if (isCurrent()) setFailure(error instanceof Error ? error : new Error('The file could not be read.'));
    } finally {
      if (isCurrent()) setBusy(false);
    }
  }

  const read = (file: File | undefined) =>
    file &&
    whileBusy(async (isCurrent) => {
      setLines([]);
      const planned = await planLines(await file.text());
      if (isCurrent()) setLines(planned);
    });

  const run = () =>
    whileBusy(async (isCurrent) => {
      const done = new Map(lines.map((line) => [line.id, line]));
      const waiting = lines.filter(({ plan }) => plan === open);
      try {
        for (let at = 0; at < waiting.length && isCurrent(); at += batch) {
          // It may have been stopped while it waited for the rate limit.
          const sendNext = async () => (isCurrent() ? await send(waiting.slice(at, at + batch)) : []);
          for (const line of await whenAccepted(sendNext)) done.set(line.id, line);
          if (isCurrent()) setLines([...done.values()]);
        }
      } finally {
        await cache.invalidateQueries({ queryKey: [changes] });
      }
    });

  const close = () => {
    turn.current += 1;
    setBusy(false);
    setLines([]);
    setFailure(undefined);
    onClose();
  };
  return (
    <Dialog title={title} hint={hint} isOpen={isOpen} onClose={close}>
      {children}
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
          <p role="status">{counts}.</p>
          <Table
            caption="Result for each line"
            list={listed(lines)}
            empty={undefined}
            columns={[
              {
                head,
                cell: ({ name, why }) => (
                  <>
                    {name || '(none)'}
                    {why && <span className="second">{why}</span>}
                  </>
                ),
              },
              {
                head: 'Result',
                cell: ({ plan }) => (
                  <span className="row">
                    <Badge state={tones.get(plan) ?? plan} /> {plan}
                  </span>
                ),
              },
            ]}
          />
        </>
      )}
      <div className="popup-foot">
        <Button onPress={close}>{isBusy ? 'Stop' : 'Close'}</Button>
        <Button kind="primary" isBusy={isBusy} isDisabled={countLines(open) === 0} onPress={() => void run()}>
          {action(countLines(open))}
        </Button>
      </div>
    </Dialog>
  );
}
