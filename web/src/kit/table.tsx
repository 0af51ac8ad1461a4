import { Fragment, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { OperationId } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import type { Rows } from '../call/use.ts';
import { Choice, SelectRest, SelectShown, useToggle } from './choice.tsx';
import { CreatorFace } from './creator-face.tsx';
import { useFilters } from './filters.tsx';
import { counted, type Noun } from './format.ts';
import { InSight } from './in-sight.tsx';
import { Button, Empty, Failure, Loading, oneLine } from './parts.tsx';
import type { Selection } from './selection.ts';
import { Top } from './table-top.tsx';
import { useIsPhone } from './wide.ts';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  /** Figures are right-aligned, so that their digits line up. */
  isNumber?: boolean;
  /** Hidden on phones. */
  isWide?: boolean;
  /** A phone has it in a line below the row's name, by itself or after its head. */
  chip?: 'value' | 'named';
  /** The time that the list is ordered by, or can be (`asked`): its head reverses the order. */
  isOrder?: boolean | 'asked';
  /** The value of `sort` that orders by this column: its head sets it. The largest come first, or the soonest. */
  sort?: { by: string; isOn: boolean; isAscending?: boolean };
  /** The operation that its buttons call. The column is hidden from people who may not call it. */
  needs?: OperationId;
}

/** The column of a row's buttons, at its end: what they are says each of them. */
const ACTIONS = 'Actions';

function useColumns<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const may = useMay();
  return columns.filter(({ needs }) => needs === undefined || may(needs));
}

const keyFor = (caption: string) => `columns ${caption}`;

/** The columns that this person hid from a table, kept in the browser. */
function useHidden(caption: string): { hidden: readonly string[]; toggle: (head: string) => void } {
  const [hidden, setHidden] = useState<readonly string[]>(
    () => localStorage.getItem(keyFor(caption))?.split('\n').filter(Boolean) ?? [],
  );
  const toggle = (head: string) => {
    const next = hidden.includes(head) ? hidden.filter((one) => one !== head) : [...hidden, head];
    localStorage.setItem(keyFor(caption), next.join('\n'));
    setHidden(next);
  };
  return { hidden, toggle };
}

/** The first column names the row, so it is never hidden. */
const withoutHidden = <Row,>(columns: readonly Column<Row>[], hidden: readonly string[]) =>
  columns.filter(({ head }, i) => i === 0 || !hidden.includes(head));

function Head<Row>({ column }: { column: Column<Row> }) {
  const { head, isOrder, sort: own } = column;
  const { get, set } = useFilters();
  const className = toClassName(column);
  const sort = get('sort') ?? (isOrder === 'asked' ? '' : 'newest');
  if (own) {
    const { by, isOn, isAscending = false } = own;
    return (
      <th scope="col" className={className} aria-sort={!isOn ? 'none' : isAscending ? 'ascending' : 'descending'}>
        <button type="button" className="sort" onClick={() => set('sort', isOn ? '' : by)}>
          {head} <span aria-hidden>{isOn ? (isAscending ? '↑' : '↓') : '↕'}</span>
        </button>
      </th>
    );
  }
  if (!isOrder) {
    return (
      <th scope="col" className={className}>
        {head === ACTIONS ? <span className="sr-only">{head}</span> : head}
      </th>
    );
  }
  const isOldest = sort === 'oldest';
  const isNewest = sort === 'newest';
  return (
    <th scope="col" className={className} aria-sort={isOldest ? 'ascending' : isNewest ? 'descending' : 'none'}>
      <button
        type="button"
        className="sort"
        onClick={() => set('sort', isNewest ? 'oldest' : isOrder === 'asked' ? 'newest' : '')}
      >
        {head} <span aria-hidden>{isOldest ? '↑' : isNewest ? '↓' : '↕'}</span>
      </button>
    </th>
  );
}

interface OpenerProps {
  onOpen: () => void;
  second: ReactNode;
  /** The creator that the row is about, whose face is shown; the picture is for those who are not on the roster. */
  of?: { creator_name: string | null; creator_email: string | null; picture?: string | null };
  /** True if this row is shown beside the list. */
  isCurrent?: boolean;
  children: ReactNode;
}

/** The first cell of a row that opens: its name and a second line. */
export function Opener({ of, ...props }: OpenerProps) {
  if (!of) return <Named {...props} />;
  return (
    <div className="person">
      <CreatorFace name={of.creator_name ?? of.creator_email ?? '?'} email={of.creator_email} picture={of.picture} />
      <div>
        <Named {...props} />
      </div>
    </div>
  );
}

function Named({ children, second, onOpen, isCurrent }: Omit<OpenerProps, 'of'>) {
  return (
    <>
      <button type="button" onClick={onOpen} aria-current={isCurrent || undefined} {...oneLine(children, 'link')}>
        {children}
      </button>
      <span {...oneLine(second, 'second')}>{second}</span>
    </>
  );
}

interface TableProps<Row extends object> {
  /** Describes the table for people who cannot see it. */
  caption: string;
  /** Names a row in the count of rows. */
  noun: Noun;
  /** The order in force, in words, if no head of a column shows it. */
  order?: string | undefined;
  list: Rows<Row>;
  columns: readonly Column<Row>[];
  empty: ReactNode;
  selection?: Selection<Row>;
  maySelect?: (row: Row) => boolean;
  getKey?: (row: Row) => string;
  /** The sums of all matching rows, which stay in sight at the bottom. */
  foot?: ReactNode;
  /** Stands after the number of rows, such as when all of them were last read. */
  note?: ReactNode;
  /** The usual number of rows, so that the content below hardly moves when they arrive. */
  usually?: number;
  /** Rows are cards beside each other. */
  isGallery?: boolean;
  /** No line above the heads, for a short list on a card that names it. */
  isBare?: boolean;
}

const ROW = 44;
/** Cards in a row of a gallery, and their height: the style sheet has both, too. */
const GALLERY = { lanes: 5, size: 332 };
const PHONE_GALLERY = { lanes: 2, size: 284 };
const getId = (row: object): string => ('id' in row ? String(row.id) : '');

/** Rows that are already loaded, as a list for `Table`. */
export const toRows = <Row,>(rows: readonly Row[]): Rows<Row> => ({
  rows,
  total: rows.length,
  query: {},
  error: null,
  isLoading: false,
  isOld: false,
  at: (index) => rows[index],
  read: (first, last) => Promise.resolve(rows.slice(first, last + 1)),
  see: () => undefined,
  again: () => undefined,
});

/** A list of any length that renders only its visible rows. */
export function Table<Row extends object>(props: TableProps<Row>) {
  const {
    caption,
    noun,
    order,
    list,
    empty,
    selection,
    foot,
    note,
    getKey = getId,
    usually = 8,
    isGallery = false,
    isBare = false,
  } = props;
  // Rows of the previous filters cannot be selected under the new ones.
  const maySelect = list.isOld ? () => false : (props.maySelect ?? (() => true));
  const allowedColumns = useColumns(props.columns);
  const { hidden, toggle } = useHidden(caption);
  const columns = withoutHidden(allowedColumns, hidden);
  if (list.error && list.rows.length === 0) return <Failure error={list.error} again={list.again} />;
  if (list.isLoading) return <Loading rows={usually} />;
  if (list.total === 0) return <NoRows query={list.query}>{empty}</NoRows>;
  const frame = (
    <div className="table-frame">
      {!isBare && (
        <Top
          caption={caption}
          count={
            <>
              {counted(list.total ?? list.rows.length, noun)}
              {note && <>, {note}</>}
            </>
          }
          columns={allowedColumns}
          hidden={hidden}
          toggle={toggle}
          order={order}
        >
          {selection && (
            <SelectRest list={list} selection={selection} maySelect={maySelect} getKey={getKey} noun={noun} />
          )}
        </Top>
      )}
      <table aria-rowcount={(list.total ?? list.rows.length) + 1} className={isGallery ? 'gallery' : undefined}>
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {selection && <SelectShown rows={list.rows.filter(maySelect)} selection={selection} getKey={getKey} />}
            {columns.map((column) => (
              <Head key={column.head} column={column} />
            ))}
          </tr>
        </thead>
        <Body
          list={list}
          columns={columns}
          selection={selection}
          maySelect={maySelect}
          getKey={getKey}
          isGallery={isGallery}
        />
      </table>
      {list.error && <Failure error={list.error} again={list.again} />}
    </div>
  );
  // A foot that is empty for now keeps its place, so that the table is not mounted anew.
  if (foot === undefined) return frame;
  return (
    <div className="summed">
      {frame}
      {foot}
    </div>
  );
}

/** Says so if a filter in the address leaves nothing of the list; else there is none yet. */
function NoRows({ query, children }: { query: object; children: ReactNode }) {
  const { names, clear } = useFilters();
  const filters = names.filter((name) => name !== 'sort' && Reflect.get(query, name) !== undefined);
  if (filters.length === 0) return children;
  return (
    <Empty title="Nothing matches these filters">
      <Button onPress={() => clear(filters)}>Clear the filters</Button>
    </Empty>
  );
}

const toClassName = ({ head, isNumber, isWide, chip }: Pick<Column<never>, 'head' | 'isNumber' | 'isWide' | 'chip'>) =>
  [isNumber && 'number', (isWide || chip) && 'wide', head === ACTIONS && 'acts'].filter(Boolean).join(' ') || undefined;

type BodyProps<Row extends object> = Pick<TableProps<Row>, 'list' | 'columns'> & {
  isGallery: boolean;
  selection: Selection<Row> | undefined;
  maySelect: (row: Row) => boolean;
  getKey: (row: Row) => string;
};

function Body<Row extends object>({ list, columns, selection, maySelect, getKey, isGallery }: BodyProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const isPhone = useIsPhone();
  const width = columns.length + (selection ? 1 : 0);
  const toggle = useToggle(list, { selection, getKey, maySelect });
  return (
    <InSight
      count={list.total ?? 0}
      {...(!isGallery ? { size: ROW } : isPhone ? PHONE_GALLERY : GALLERY)}
      frame={body}
      onSee={list.see}
    >
      {({ items, before, after, measure }) => (
        <tbody ref={body}>
          <Gap height={before} width={width} />
          {items.map(({ index }) => {
            const row = list.at(index);
            if (!row) return <Unread key={index} index={index} width={width} />;
            return (
              <tr key={getKey(row)} aria-rowindex={index + 2} data-index={index} ref={measure}>
                {selection && (
                  <td className="choice">
                    <Choice
                      isChosen={selection.selected.has(getKey(row))}
                      isDisabled={!maySelect(row)}
                      onToggle={(hasShift) => toggle(index, hasShift)}
                    />
                  </td>
                )}
                {columns.map((column, i) => (
                  <td key={column.head} className={toClassName(column)}>
                    {column.cell(row)}
                    {isPhone && i === 0 && <Chips columns={columns} row={row} />}
                  </td>
                ))}
              </tr>
            );
          })}
          <Gap height={after} width={width} />
        </tbody>
      )}
    </InSight>
  );
}

/** A placeholder for a row that is being loaded. */
function Unread({ index, width }: { index: number; width: number }) {
  return (
    <tr className="unread" aria-rowindex={index + 2} aria-busy>
      <td colSpan={width}>
        <span className="bone" />
      </td>
    </tr>
  );
}

/** The columns that a phone shows below the row's name. What a row does not have is left out. */
function Chips<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  const chips = columns
    .flatMap(({ head, cell, chip }) => (chip ? [{ head, chip, shown: cell(row) }] : []))
    .filter(({ shown }) => shown !== '–' && shown !== null);
  if (chips.length === 0) return null;
  return (
    <div className="chips">
      {chips.map(({ head, chip, shown }) => (
        <span key={head}>
          {chip === 'named' && `${head} `}
          {shown}
        </span>
      ))}
    </div>
  );
}

function Gap({ height, width }: { height: number; width: number }) {
  if (height < 1) return null;
  return (
    <tr className="gap">
      <td colSpan={width} style={{ height }} />
    </tr>
  );
}

/** If the table is wider than the screen, the keyboard can scroll it too. */
export function Frame({ caption, children }: { caption: string; children: ReactNode }) {
  const frame = useRef<HTMLElement>(null);
  const [isWider, setWider] = useState(false);
  useLayoutEffect(() => {
    const { current } = frame;
    if (!current) return;
    const watch = new ResizeObserver(() => setWider(current.scrollWidth > current.clientWidth));
    watch.observe(current);
    return () => watch.disconnect();
  }, []);
  return (
    <section
      ref={frame}
      className="table-frame"
      {...(isWider ? { tabIndex: 0, 'aria-label': `${caption}, scrollable` } : {})}
    >
      {children}
    </section>
  );
}

/** A short table of loaded rows, without virtual scrolling. */
export function PlainTable<Row>(props: {
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  getKey: (row: Row) => string;
  /** A last row, such as the sum, with a cell for each column. */
  foot?: readonly ReactNode[];
  /** For many columns of figures. */
  isTight?: boolean;
  selection?: Selection<Row> & { getName: (row: Row) => string };
  /** Stands above the rows, beside the choice of columns. */
  count?: string;
  /** A part that is unfolded below a row, such as what the row sums up. */
  below?: (row: Row) => ReactNode;
  /** The heading of the rows that follow, such as their day, where it differs from that of the row before. */
  heading?: (row: Row) => string;
}) {
  const { caption, rows, getKey, foot, isTight, selection, count, heading, below } = props;
  const allowedColumns = useColumns(props.columns);
  const { hidden, toggle: toggleColumn } = useHidden(caption);
  const columns = count === undefined ? allowedColumns : withoutHidden(allowedColumns, hidden);
  const isPhone = useIsPhone();
  const toggle = useToggle(toRows(rows), { selection, getKey, maySelect: () => true });
  if (rows.length === 0) return <Empty title="Nothing yet" />;
  return (
    <Frame caption={caption}>
      {count !== undefined && (
        <Top caption={caption} count={count} columns={allowedColumns} hidden={hidden} toggle={toggleColumn} />
      )}
      <table className={isTight ? 'tight' : undefined}>
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {selection && <SelectShown rows={rows} selection={selection} getKey={getKey} />}
            {columns.map((column) => (
              <Head key={column.head} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => {
            const title = heading?.(row);
            const before = rows[index - 1];
            const unfolded = below?.(row);
            return (
              <Fragment key={getKey(row)}>
                {title !== undefined && title !== (before && heading?.(before)) && (
                  <tr className="heading">
                    <th scope="rowgroup" colSpan={columns.length + (selection ? 1 : 0)}>
                      {title}
                    </th>
                  </tr>
                )}
                <tr>
                  {selection && (
                    <td className="choice">
                      <Choice
                        label={`Select ${selection.getName(row)}`}
                        isChosen={selection.selected.has(getKey(row))}
                        onToggle={(hasShift) => toggle(index, hasShift)}
                      />
                    </td>
                  )}
                  {columns.map((column, i) => (
                    <td key={column.head} className={toClassName(column)}>
                      {column.cell(row)}
                      {isPhone && i === 0 && <Chips columns={columns} row={row} />}
                    </td>
                  ))}
                </tr>
                {unfolded && (
                  <tr className="unfolded">
                    <td colSpan={columns.length + (selection ? 1 : 0)}>{unfolded}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
        {foot && (
          <tfoot>
            <tr>
              {columns.map((column, i) => (
                <td key={column.head} className={toClassName(column)}>
                  {foot[i]}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </Frame>
  );
}
