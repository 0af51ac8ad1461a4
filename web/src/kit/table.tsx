import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { OperationId } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import type { Rows } from '../call/use.ts';
import { number } from './format.ts';
import { InSight } from './in-sight.tsx';
import { Empty, Failure, Loading } from './parts.tsx';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  /** Figures are right-aligned, so that their digits line up. */
  isNumber?: boolean;
  /** Hidden on phones. */
  isWide?: boolean;
  /** The operation that its buttons call. The column is hidden from people who may not call it. */
  needs?: OperationId;
}

function useColumns<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const may = useMay();
  return columns.filter(({ needs }) => needs === undefined || may(needs));
}

/** The first cell of a row that opens: its name and a second line. */
export function Opener(props: { onOpen: () => void; second: ReactNode; children: ReactNode }) {
  return (
    <>
      <button type="button" className="link" onClick={props.onOpen}>
        {props.children}
      </button>
      <span className="second">{props.second}</span>
    </>
  );
}

interface Selection {
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
}

interface TableProps<Row extends object> {
  /** Describes the table for people who cannot see it. */
  caption: string;
  list: Rows<Row>;
  columns: readonly Column<Row>[];
  empty: ReactNode;
  selection?: Selection;
  /** Whether a row can be selected. */
  maySelect?: (row: Row) => boolean;
  keyOf?: (row: Row) => string;
}

const ROW = 53;
const idOf = (row: object): string => ('id' in row ? String(row.id) : '');

/** Rows that are already loaded, as a list for `Table`. */
export const listed = <Row,>(rows: readonly Row[]): Rows<Row> => ({
  ...{ rows, total: rows.length, error: null, isLoading: false },
  ...{ at: (index) => rows[index], see: () => undefined, again: () => undefined },
});

/** A list of any length, of which only the visible rows are rendered. */
export function Table<Row extends object>(props: TableProps<Row>) {
  const { caption, list, empty, selection, maySelect = () => true, keyOf = idOf } = props;
  const columns = useColumns(props.columns);
  if (list.error && list.rows.length === 0) return <Failure error={list.error} again={list.again} />;
  if (list.isLoading) return <Loading rows={8} />;
  if (list.total === 0) return empty;
  const choosable = list.rows.filter(maySelect);
  const isAll =
    selection !== undefined && choosable.length > 0 && choosable.every((row) => selection.selected.has(keyOf(row)));
  return (
    <div className="table-frame">
      <table aria-rowcount={(list.total ?? list.rows.length) + 1}>
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {selection && (
              <th scope="col" className="choice">
                <input
                  type="checkbox"
                  aria-label="Select all shown"
                  checked={isAll}
                  onChange={() => {
                    const shown = new Set(choosable.map(keyOf));
                    const others = [...selection.selected].filter((key) => !shown.has(key));
                    selection.onSelect(new Set(isAll ? others : [...others, ...shown]));
                  }}
                />
              </th>
            )}
            {columns.map(({ head, isNumber, isWide }) => (
              <th key={head} scope="col" className={classOf(isNumber, isWide)}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <Body list={list} columns={columns} selection={selection} maySelect={maySelect} keyOf={keyOf} />
      </table>
      {list.error && <Failure error={list.error} again={list.again} />}
      <p className="count" role="status">
        {number(list.total ?? list.rows.length)} {list.total === 1 ? 'entry' : 'entries'}
      </p>
    </div>
  );
}

const classOf = (isNumber?: boolean, isWide?: boolean) =>
  [isNumber && 'number', isWide && 'wide'].filter(Boolean).join(' ') || undefined;

type BodyProps<Row extends object> = Pick<TableProps<Row>, 'list' | 'columns'> & {
  selection: Selection | undefined;
  maySelect: (row: Row) => boolean;
  keyOf: (row: Row) => string;
};

function Body<Row extends object>({ list, columns, selection, maySelect, keyOf }: BodyProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const width = columns.length + (selection ? 1 : 0);
  return (
    <InSight count={list.total ?? 0} size={ROW} frame={body} onSee={list.see}>
      {({ items, before, after, measure }) => (
        <tbody ref={body}>
          <Gap height={before} width={width} />
          {items.map(({ index }) => {
            const row = list.at(index);
            if (!row) return <Unread key={index} index={index} width={width} />;
            return (
              <tr key={keyOf(row)} aria-rowindex={index + 2} data-index={index} ref={measure}>
                {selection && (
                  <td className="choice">
                    <Choice id={keyOf(row)} selection={selection} isDisabled={!maySelect(row)} />
                  </td>
                )}
                {columns.map(({ head, cell, isNumber, isWide }) => (
                  <td key={head} className={classOf(isNumber, isWide)}>
                    {cell(row)}
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

function Gap({ height, width }: { height: number; width: number }) {
  if (height < 1) return null;
  return (
    <tr className="gap">
      <td colSpan={width} style={{ height }} />
    </tr>
  );
}

function Choice({ id, selection, isDisabled }: { id: string; selection: Selection; isDisabled: boolean }) {
  const isChosen = selection.selected.has(id);
  const toggle = () => {
    const next = new Set(selection.selected);
    if (!next.delete(id)) next.add(id);
    selection.onSelect(next);
  };
  return (
    <input type="checkbox" aria-label="Select this row" checked={isChosen} disabled={isDisabled} onChange={toggle} />
  );
}

/** If the table is wider than the screen, the keyboard can scroll it too. */
function Frame({ caption, children }: { caption: string; children: ReactNode }) {
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
  keyOf: (row: Row) => string;
  /** A last row, such as the sum, with a cell for each column. */
  foot?: readonly ReactNode[];
}) {
  const { caption, rows, keyOf, foot } = props;
  const columns = useColumns(props.columns);
  if (rows.length === 0) return <Empty title="Nothing yet" />;
  return (
    <Frame caption={caption}>
      <table>
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, isNumber, isWide }) => (
              <th key={head} scope="col" className={classOf(isNumber, isWide)}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ head, cell, isNumber, isWide }) => (
                <td key={head} className={classOf(isNumber, isWide)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {foot && (
          <tfoot>
            <tr>
              {columns.map(({ head, isNumber, isWide }, i) => (
                <td key={head} className={classOf(isNumber, isWide)}>
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
