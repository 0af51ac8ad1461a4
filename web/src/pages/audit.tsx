import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { Filters, useFilters } from '../kit/filters.tsx';
import { fieldValue, time, words } from '../kit/format.ts';
import { Empty, Facts, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, PlainTable, Table } from '../kit/table.tsx';

type Entry = Row<'list_audit_log'>;

export function Audit() {
  const { get } = useFilters();
  const query = { operation: get('operation'), resource_id: get('resource_id') };
  const list = useRows('list_audit_log', query);
  const [entry, setEntry] = useState<Entry>();
  const names = [...new Set([...Object.keys(entry?.old ?? {}), ...Object.keys(entry?.new ?? {})])];
  const columns: readonly Column<Entry>[] = [
    {
      head: 'Operation',
      cell: (row) => (
        <Opener onOpen={() => setEntry(row)} second={row.resource_id}>
          {words(row.operation)}
        </Opener>
      ),
    },
    {
      head: 'Who',
      cell: ({ person_name, key_name }) => person_name ?? (key_name ? `Key ${key_name}` : 'A creator, or the server'),
    },
    { head: 'When', cell: ({ created_at }) => time(created_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Audit log" hint="Every change, with who made it and when.">
        <Download id="list_audit_log" query={query} name="audit-log.csv" />
      </PageHead>
      <Filters
        of={[
          { name: 'operation', label: 'Operation', kind: 'text' },
          { name: 'resource_id', label: 'Resource id', kind: 'text' },
        ]}
      />
      <Table caption="Audit log" list={list} columns={columns} empty={<Empty title="No changes here" />} />
      <Dialog title={words(entry?.operation)} isOpen={entry !== undefined} onClose={() => setEntry(undefined)} isSide>
        {entry && (
          <>
            <Facts
              of={[
                ['Who', entry.person_name ?? entry.key_name ?? 'A creator, on a public page'],
                ['When', time(entry.created_at)],
                ['Resource', entry.resource_id],
                ['Request', entry.request_id],
              ]}
            />
            <PlainTable
              caption="What changed"
              rows={names}
              keyOf={(name) => name}
              columns={[
                { head: 'Field', cell: (name) => words(name) },
                { head: 'Before', cell: (name) => fieldValue(entry.old?.[name]) },
                { head: 'After', cell: (name) => fieldValue(entry.new?.[name]) },
              ]}
            />
          </>
        )}
      </Dialog>
    </>
  );
}
