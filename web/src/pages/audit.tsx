import { operations } from 'virtual:operations';
import { Link } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { useAll, useCall, useFirst, useRows } from '../call/use.ts';
import { Changes, changedNames, describeChange, recordField, startSmall } from '../kit/changes.tsx';
import { Detail } from '../kit/detail.tsx';
import { Download } from '../kit/download.tsx';
import { type Filter, Filters, sortIn, useFilters } from '../kit/filters.tsx';
import { words } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { breakable, Empty, Facts, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { BothTimes, Time } from '../kit/time.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';
import { doneText, isOnPage, KINDS, RecordLink, toKindName } from './record-links.tsx';

type AuditEntry = Row<'list_audit_log'>;

/** A key by its name; one that the server named after the brand and the kind, as `demo, brand`, in words. */
function nameKey(name: string): string {
  const [, own, kind] = /^(.+), (brand|creator|admin)$/.exec(name) ?? [];
  return own === undefined ? `Key ${name}` : `${own} (${kind} key)`;
}

/** The author of a change: a person, a key, a creator on a page, or the server by itself. */
function nameActor({ person_name, key_name, by_agent, operation, creator_name, creator_email }: AuditEntry): string {
  const agent = by_agent ? ', an agent' : '';
  if (person_name !== null) return `${person_name}${agent}`;
  if (key_name !== null) return `${nameKey(key_name)}${agent}`;
  return isOnPage(operation) ? (creator_name ?? creator_email ?? 'A creator') : 'Rollcall';
}

const FIELDS_SHOWN = 3;
/** Up to this number, fields have their values beside them. */
const WITH_VALUES = 2;
/** Characters of a line in a row. */
const LINE = 44;

/** The first fields that a change is about; of one or two, the values too, as far as a line has room. */
function listFields(entry: AuditEntry, currency: string): string {
  if (entry.old === null || entry.new === null) return '';
  const names = changedNames(entry);
  const own = { ...entry, currency: entry.currency ?? currency };
  if (names.length <= WITH_VALUES) {
    const [first = '', ...others] = names.map((name) => describeChange(own, name));
    const all = [first, ...others].join(', ');
    return all.length <= LINE || others.length === 0 ? all : `${first} and 1 more`;
  }
  const more = names.length - FIELDS_SHOWN;
  const shown = names.slice(0, FIELDS_SHOWN).map((name) => startSmall(recordField(name)));
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** An address without its scheme; a word of the API as a word. */
const shortName = (name: string) =>
  /^[a-z]+(?:_[a-z]+)*$/.test(name) ? words(name) : name.replace(/^https?:\/\//, '');

/** The subject of a privacy request, which the API gives as its name, is only the kind of person. */
const isNamed = ({ resource_id: id, resource_name: name }: AuditEntry) => name !== null && !id.startsWith('drq_');

/** The word between a record without a name and its creator. */
const CREATOR_WORDS: ReadonlyMap<string, string> = new Map([
  ['app', 'from'],
  ['cnv', 'with'],
  ['dsp', 'from'],
  ['pay', 'to'],
]);

/** Records without a name are named by their creator. */
const isOfCreator = (entry: AuditEntry) => !isNamed(entry) && (entry.creator_name ?? entry.creator_email) !== null;

/** The record's name; else what kind of record it is, and of which creator. */
function nameIn(entry: AuditEntry): string {
  const { resource_id: id, resource_name: name, creator_name, creator_email } = entry;
  if (name !== null && isNamed(entry)) return shortName(name);
  const creator = creator_name ?? creator_email;
  return creator === null
    ? toKindName(id)
    : `${toKindName(id)} ${CREATOR_WORDS.get(id.slice(0, 3)) ?? 'of'} ${creator}`;
}

/** A recent job by its file or its kind of records: all of them are read in one call. */
function JobName({ id, kind }: { id: string; kind: string }) {
  const { data } = useFirst('list_jobs', {}, { limit: 100 });
  const { file, of } = data?.data.find((job) => job.id === id)?.request ?? {};
  const subject = typeof file === 'string' ? file : typeof of === 'string' ? words(of).toLowerCase() : undefined;
  return subject === undefined ? `${words(kind)} job` : breakable(`${words(kind)} of ${subject}`);
}

function RecordTitle({ of: entry }: { of: AuditEntry }) {
  const kind = entry.new?.kind;
  const isJob = entry.resource_id.startsWith('job_') && typeof kind === 'string';
  return isJob ? <JobName id={entry.resource_id} kind={kind} /> : breakable(nameIn(entry));
}

const doneIn = (entry: AuditEntry) => doneText(entry.operation, entry);

/** The record's name, which leads to it while it exists. */
function RecordName({ of }: { of: AuditEntry }) {
  return (
    <RecordLink id={of.resource_id} isThere={of.new !== null} jobKind={of.new?.kind}>
      <RecordTitle of={of} />
    </RecordLink>
  );
}

const CHANGES = Object.entries(operations)
  .filter(([, [method]]) => method !== 'GET')
  .map(([id]) => [id, doneText(id)] as const)
  .toSorted(([, one], [, other]) => one.localeCompare(other));

function OpenEntry({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_audit_entry', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  return (
    <Detail id={id} onClose={onClose} query={query} title={(entry) => (entry ? doneIn(entry) : 'Change')}>
      {(entry) => (
        <>
          <Facts
            of={[
              ['Who', nameActor(entry)],
              ['When', <BothTimes key="when" at={entry.created_at} />],
              [isNamed(entry) ? toKindName(entry.resource_id) : 'Record', <RecordName key="record" of={entry} />],
              ...(entry.creator_email === null ? [] : [['Creator', <CreatorName key="creator" of={entry} />] as const]),
              ['ID', <code key="id">{entry.resource_id}</code>],
              ['Request', entry.request_id && <code>{entry.request_id}</code>],
            ]}
          />
          <p>
            <Link to="/audit" search={{ resource_id: entry.resource_id }}>
              All changes to this record
            </Link>
          </p>
          <Changes
            caption="What changed"
            of={{ ...entry, currency: entry.currency ?? currency }}
            shownAs={(name, value) => name === 'campaign_id' && <CampaignName id={String(value)} />}
          />
        </>
      )}
    </Detail>
  );
}

export function Audit() {
  const { get } = useFilters();
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const people = useAll('list_people', {}).data ?? [];
  const query = {
    operation: get('operation'),
    person_id: get('person_id'),
    resource_id: get('resource_id'),
    resource_prefix: get('resource_prefix'),
    created_after: get('created_after'),
    created_before: get('created_before'),
    sort: sortIn(get),
  };
  const list = useRows('list_audit_log', query);
  const panel = useOpened();
  const columns: readonly Column<AuditEntry>[] = [
    {
      head: 'Change',
      cell: (row) => (
        <Opener
          onOpen={() => panel.open(row.id)}
          second={
            <>
              {listFields(row, currency)}
              <span className="narrow">
                {isNamed(row) && toKindName(row.resource_id)} <RecordTitle of={row} />
              </span>
            </>
          }
        >
          {doneIn(row)}
        </Opener>
      ),
    },
    {
      head: 'Record',
      cell: (row) => (
        <>
          <RecordName of={row} />
          <span className="second">
            {[isNamed(row) && toKindName(row.resource_id), !isOfCreator(row) && (row.creator_name ?? row.creator_email)]
              .filter(Boolean)
              .join(', ')}
          </span>
        </>
      ),
      isWide: true,
    },
    {
      head: 'Who',
      cell: (row) => (
        <>
          {nameActor(row)}
          <div className="narrow">
            <span className="second unbroken">
              <Time at={row.created_at} />
            </span>
          </div>
        </>
      ),
    },
    { head: 'When', cell: ({ created_at }) => <Time at={created_at} />, isWide: true, isOrder: true },
  ];
  const filters: readonly Filter[] = [
    { name: 'operation', label: 'Change', kind: 'select', options: CHANGES },
    {
      name: 'resource_prefix',
      label: 'Record',
      kind: 'select',
      options: Object.entries(KINDS).map(([prefix, { name }]) => [prefix, name]),
    },
    {
      name: 'person_id',
      label: 'Person',
      kind: 'select',
      options: people.map(({ id, name, email }) => [id, name ?? email]),
    },
    { name: 'created_after', label: 'From', kind: 'date' },
    { name: 'created_before', label: 'To', kind: 'date' },
    ...(query.resource_id === undefined ? [] : [{ name: 'resource_id', label: 'Record ID', kind: 'text' } as const]),
  ];
  return (
    <>
      <PageHead title="Audit log" hint="Every change, with who made it and when.">
        <Download id="list_audit_log" query={query} name="audit-log.csv" />
      </PageHead>
      <Filters of={filters} />
      <Table
        caption="Audit log"
        noun="change"
        list={list}
        columns={columns}
        empty={<Empty title="No changes here">Choose other filters to see more.</Empty>}
      />
      <OpenEntry id={panel.id} onClose={panel.close} />
    </>
  );
}
