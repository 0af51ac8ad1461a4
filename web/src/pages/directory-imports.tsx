import { useState } from 'react';
import type { Answer, Row } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { compact, number, words } from '../kit/format.ts';
import { Badge, Card, Copy, Failure, Loading, Stat, Stats } from '../kit/parts.tsx';
import { Opener, PlainTable } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';

type DirectoryImportRow = Row<'list_directory_imports'>;
type DirectoryImport = Answer<'get_directory_import'>['data'];
type ImportReport = NonNullable<DirectoryImport['report']>;

const share = (value: number) => `${(value * 100).toFixed(1)}%`;

/** The change of a share, in points. */
function points({ before, after }: { before: number; after: number }): string {
  const difference = (after - before) * 100;
  return `${difference > 0 ? '+' : difference < 0 ? '−' : ''}${Math.abs(difference).toFixed(1)}`;
}

const hasMoved = ({ before, after }: { before: number; after: number }) => Math.abs(after - before) >= 0.0005;

interface FieldShare {
  name: string;
  before: number;
  after: number;
}

function Shares({ caption, head, of }: { caption: string; head: string; of: readonly FieldShare[] }) {
  return (
    <PlainTable
      caption={caption}
      rows={of}
      getKey={({ name }) => name}
      columns={[
        { head, cell: ({ name }) => name },
        { head: 'Before', cell: ({ before }) => share(before), isNumber: true },
        { head: 'After', cell: ({ after }) => share(after), isNumber: true },
        { head: 'Points', cell: points, isNumber: true },
      ]}
    />
  );
}

const MOST_VALUES = 10;

function Compared({ report }: { report: ImportReport }) {
  const movedFields = report.fill.filter(hasMoved).map(({ field, ...of }) => ({ name: words(field), ...of }));
  const values = report.top_values
    .filter(hasMoved)
    .slice(0, MOST_VALUES)
    .map(({ field, value, ...of }) => ({ name: `${words(field)}: ${value}`, ...of }));
  return (
    <>
      {report.changed_fields.length > 0 && (
        <>
          <h3>Changes by field{report.is_estimated ? ', estimated' : ''}</h3>
          <PlainTable
            caption="Changes by field"
            rows={report.changed_fields}
            getKey={({ field }) => field}
            columns={[
              { head: 'Field', cell: ({ field }) => words(field) },
              { head: 'Creators', cell: ({ creators }) => number(creators), isNumber: true },
            ]}
          />
        </>
      )}
      <h3>Fields with a value</h3>
      {movedFields.length === 0 ? (
        <p className="hint">As many rows as before have a value in every field.</p>
      ) : (
        <Shares caption="Fields with a value" head="Field" of={movedFields} />
      )}
      <h3>Frequent values</h3>
      <Shares
        caption="Frequent values"
        head="Value"
        of={[...values, { name: 'Lives in a metro', ...report.in_metro }]}
      />
      <h3>Spread</h3>
      <PlainTable
        caption="Spread"
        rows={report.percentiles}
        getKey={({ field, percentile }) => `${field} ${percentile}`}
        columns={[
          { head: 'Percentile', cell: ({ field, percentile }) => `${words(field)}, ${percentile}%` },
          { head: 'Before', cell: ({ before }) => compact(before), isNumber: true },
          { head: 'After', cell: ({ after }) => compact(after), isNumber: true },
        ]}
      />
    </>
  );
}

function Canaries({ of }: { of: NonNullable<DirectoryImport['bounds']>['canaries'] }) {
  if (of.length === 0) return null;
  const inWords = (query: Record<string, unknown>) =>
    Object.entries(query)
      .map(([name, value]) => `${name} = ${String(value)}`)
      .join(', ');
  return (
    <>
      <h3>Canaries</h3>
      <PlainTable
        caption="Canaries"
        rows={of}
        getKey={({ query }) => JSON.stringify(query)}
        columns={[
          { head: 'Search', cell: ({ query }) => inWords(query) },
          { head: 'At least', cell: ({ min_total }) => number(min_total), isNumber: true },
          { head: 'Known creators', cell: ({ must_contain }) => number(must_contain), isNumber: true },
        ]}
      />
    </>
  );
}

function Command({ does, text }: { does: string; text: string }) {
  return (
    <div className="code short">
      <h3>{does}</h3>
      <div className="code-text">
        <pre>{text}</pre>
      </div>
      <Copy text={text} label={`Copy the command ${does.toLowerCase()}`} />
    </div>
  );
}

/** Why it is held. Only an operator decides, because all brands share the directory. */
function Held({ id, reasons }: DirectoryImport) {
  return (
    <>
      <div className="problem summary wait">
        <p>Searches use the previous directory until an operator decides.</p>
        <ul className="points">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      </div>
      <Command does="To make it live" text={`npm run indexer -- approve ${id}`} />
      <Command does="To remove it" text={`npm run indexer -- discard ${id}`} />
    </>
  );
}

function Shown(entry: DirectoryImport) {
  const { report, bounds, state, creators, added, removed, changed } = entry;
  return (
    <>
      <p>
        <Badge state={state} />{' '}
        <span className="muted">
          Started <Time at={entry.started_at} />
        </span>
      </p>
      {state === 'held' && <Held {...entry} />}
      <Stats>
        <Stat
          label="Creators"
          value={number(creators)}
          note={report ? `before ${number(report.creators_before)}` : 'the first import'}
        />
        <Stat label="Added" value={number(added)} />
        <Stat label="Removed" value={number(removed)} />
        <Stat label="Changed" value={number(changed)} />
      </Stats>
      {entry.rejected_rows > 0 && <p>{number(entry.rejected_rows)} rows were invalid and left out.</p>}
      {report && <Compared report={report} />}
      {bounds && <Canaries of={bounds.canaries} />}
    </>
  );
}

function formatChanges({ added, removed, changed }: DirectoryImportRow): string {
  if (added === null) return '–';
  return `+${compact(added)}  −${compact(removed)}  ~${compact(changed)}`;
}

/** The latest imports of the directory, each with its report. */
export function DirectoryImports() {
  const [openId, setOpenId] = useState<string>();
  const { data, error, refetch } = useCall('list_directory_imports', { query: { limit: '10' } });
  const query = useCall('get_directory_import', { params: { id: openId ?? '' } }, { enabled: openId !== undefined });
  return (
    <Card>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!data && !error && <Loading rows={2} />}
      {data && (
        <PlainTable
          caption="Directory imports"
          rows={data.data}
          getKey={({ id }) => id}
          columns={[
            {
              head: 'Started',
              cell: (entry) => (
                <Opener onOpen={() => setOpenId(entry.id)} second={entry.files.join(', ')}>
                  <Time at={entry.started_at} />
                </Opener>
              ),
            },
            { head: 'Status', cell: ({ state }) => <Badge state={state} /> },
            { head: 'Creators', cell: ({ creators }) => number(creators), isNumber: true, isWide: true },
            { head: 'Changes', cell: formatChanges, isNumber: true, isWide: true },
          ]}
        />
      )}
      <Detail
        id={openId}
        onClose={() => setOpenId(undefined)}
        query={query}
        title={(entry) => (entry ? entry.files.join(', ') : 'Import')}
      >
        {Shown}
      </Detail>
    </Card>
  );
}
