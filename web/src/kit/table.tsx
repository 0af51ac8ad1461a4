import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Rows } from '../call/use.ts';
import { number } from './format.ts';
import { Empty, Failure, Loading } from './parts.tsx';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  /** Figures stand at the end, so that their digits align. */
  isNumber?: boolean;
  /** Not on a phone. */
  isWide?: boolean;
}

/** The first cell of a row that opens: what it is, and a second line. */
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

interface TableProps<Row extends { id: string }> {
  /** What the table is, for whoever does not see it. */
  caption: string;
  list: Rows<Row>;
  columns: readonly Column<Row>[];
  empty: ReactNode;
  selection?: Selection;
  /** Whether a row may be chosen. */
  maySelect?: (row: Row) => boolean;
}

const ROW = 53;

/** A list of any length: only the rows in sight are there. */
export function Table<Row extends { id: string }>(props: TableProps<Row>) {
  const { caption, list, columns, empty, selection, maySelect = () => true } = props;
  if (list.error && list.rows.length === 0) return <Failure error={list.error} again={list.again} />;
  if (list.isLoading) return <Loading rows={8} />;
  if (list.rows.length === 0) return empty;
  const choosable = list.rows.filter(maySelect);
  const isAll =
    selection !== undefined && choosable.length > 0 && choosable.every(({ id }) => selection.selected.has(id));
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
                  aria-label="Choose all that are shown"
                  checked={isAll}
                  onChange={() => selection.onSelect(new Set(isAll ? [] : choosable.map(({ id }) => id)))}
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
        <Body list={list} columns={columns} selection={selection} maySelect={maySelect} />
      </table>
      <p className="count" role="status">
        {number(list.total ?? list.rows.length)} {list.total === 1 ? 'entry' : 'entries'}
      </p>
    </div>
  );
}

const classOf = (isNumber?: boolean, isWide?: boolean) =>
  [isNumber && 'number', isWide && 'wide'].filter(Boolean).join(' ') || undefined;

type BodyProps<Row extends { id: string }> = Pick<TableProps<Row>, 'list' | 'columns'> & {
  selection: Selection | undefined;
  maySelect: (row: Row) => boolean;
};

function Body<Row extends { id: string }>({ list, columns, selection, maySelect }: BodyProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(body.current ? body.current.getBoundingClientRect().top + window.scrollY : 0), []);
  const virtual = useWindowVirtualizer({
    count: list.rows.length,
    estimateSize: () => ROW,
    overscan: 12,
    scrollMargin: top,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (list.hasMore && last >= list.rows.length - 20) list.more();
  }, [last, list]);
  const before = (items[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  const width = columns.length + (selection ? 1 : 0);
  return (
    <tbody ref={body}>
      <Gap height={before} width={width} />
      {items.map(({ index }) => {
        const row = list.rows[index];
        if (!row) return null;
        return (
          <tr key={row.id} aria-rowindex={index + 2} data-index={index} ref={virtual.measureElement}>
            {selection && (
              <td className="choice">
                <Choice row={row} selection={selection} isDisabled={!maySelect(row)} />
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

function Choice<Row extends { id: string }>(props: { row: Row; selection: Selection; isDisabled: boolean }) {
  const { row, selection, isDisabled } = props;
  const isChosen = selection.selected.has(row.id);
  const toggle = () => {
    const next = new Set(selection.selected);
    if (isChosen) next.delete(row.id);
    else next.add(row.id);
    selection.onSelect(next);
  };
  return (
    <input type="checkbox" aria-label="Choose this row" checked={isChosen} disabled={isDisabled} onChange={toggle} />
  );
}

/** Where it is too narrow for its table, it is scrolled with the keyboard, too. */
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
      {...(isWider ? { tabIndex: 0, 'aria-label': `${caption}, to scroll sideways` } : {})}
    >
      {children}
    </section>
  );
}

/** A short table of what is at hand, without scrolling tricks. */
export function PlainTable<Row>(props: {
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  /** A last line, such as the sum: a cell for each column. */
  foot?: readonly ReactNode[];
}) {
  const { caption, rows, columns, keyOf, foot } = props;
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
