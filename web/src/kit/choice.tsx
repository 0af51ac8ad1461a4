import { useEffect, useRef, useState } from 'react';
import { whenAccepted } from '../call/call.ts';
import type { Rows } from '../call/use.ts';
import { counted, type Noun, number } from './format.ts';
import { Button } from './parts.tsx';
import type { Selection } from './selection.ts';
import { useSay } from './toast.tsx';

/** At most so many rows of a list are selected at once, so that reading and deciding on them ends. */
const MOST = 1_000;
const PAGE = 100;

interface Choosable<Row> {
  selection: Selection<Row>;
  getKey: (row: Row) => string;
}

/** Selects all shown rows, or none of them. Rows on other pages stay as they are. */
export function SelectShown<Row>({ rows, selection, getKey }: Choosable<Row> & { rows: readonly Row[] }) {
  const { selected, onSelect } = selection;
  const isAll = rows.length > 0 && rows.every((row) => selected.has(getKey(row)));
  const toggle = () => {
    const next = new Map(selected);
    for (const row of rows) {
      if (isAll) next.delete(getKey(row));
      else next.set(getKey(row), row);
    }
    onSelect(next);
  };
  return (
    <th scope="col" className="choice">
      <input type="checkbox" aria-label="Select all shown" checked={isAll} onChange={toggle} />
    </th>
  );
}

interface SelectRestProps<Row> extends Choosable<Row> {
  list: Rows<Row>;
  maySelect: (row: Row) => boolean;
  noun: Noun;
}

/** Offers the rows that are not shown, once a row is selected. They are read page by page, by the list's own query. */
export function SelectRest<Row>({ list, selection, maySelect, getKey, noun }: SelectRestProps<Row>) {
  const say = useSay();
  const [readSoFar, setReadSoFar] = useState<number>();
  const { selected, onSelect } = selection;
  const total = list.total ?? 0;
  const limit = Math.min(total, MOST);
  const selectable = list.rows.filter(maySelect);
  if (readSoFar !== undefined) {
    return (
      <span className="count" role="status">
        Selecting: {number(readSoFar)} of {number(limit)} read
      </span>
    );
  }
  const isOffered = !list.isOld && total > list.rows.length && selected.size < limit;
  if (!isOffered || selectable.length === 0 || !selectable.every((row) => selected.has(getKey(row)))) return null;
  async function selectAll() {
    const next = new Map(selected);
    setReadSoFar(0);
    try {
      for (let from = 0; from < limit; from += PAGE) {
        const rows = await whenAccepted(() => list.read(from, Math.min(from + PAGE, limit) - 1));
        for (const row of rows.filter(maySelect)) next.set(getKey(row), row);
        setReadSoFar(Math.min(from + PAGE, limit));
      }
      onSelect(next);
      if (total > MOST) say(`The first ${number(MOST)} are selected. Decide on them, then select the next.`);
    } catch (error) {
      say(error instanceof Error ? error.message : 'Something went wrong. Try again.');
    } finally {
      setReadSoFar(undefined);
    }
  }
  return (
    <Button kind="quiet" onPress={() => void selectAll()}>
      {total > MOST ? `Select the first ${number(MOST)} of ${counted(total, noun)}` : `Select all ${number(total)}`}
    </Button>
  );
}

interface Toggling<Row> {
  /** Undefined if no row can be selected. */
  selection: Selection<Row> | undefined;
  getKey: (row: Row) => string;
  maySelect: (row: Row) => boolean;
}

/**
 * Selects one row; with the shift key, also every row between it and the one that was toggled before, whether those rows
 * are rendered or not.
 */
export function useToggle<Row>(
  list: Rows<Row>,
  { selection, getKey, maySelect }: Toggling<Row>,
): (index: number, hasShift: boolean) => void {
  const say = useSay();
  const anchor = useRef<number>(undefined);
  const of = JSON.stringify(list.query);
  // An index of another query is another row.
  useEffect(() => {
    if (of) anchor.current = undefined;
  }, [of]);
  return (index, hasShift) => {
    const row = list.at(index);
    if (!selection || !row) return;
    const isToSelect = !selection.selected.has(getKey(row));
    const setAll = (rows: readonly Row[]) => {
      const next = new Map(selection.selected);
      for (const one of rows.filter(maySelect)) {
        if (isToSelect) next.set(getKey(one), one);
        else next.delete(getKey(one));
      }
      selection.onSelect(next);
    };
    const other = hasShift ? (anchor.current ?? index) : index;
    anchor.current = index;
    const [first, last] = [Math.min(index, other), Math.max(index, other)];
    if (last - first >= MOST) {
      say(`At most ${number(MOST)} rows can be selected at once.`);
      return;
    }
    const between = Array.from({ length: last - first + 1 }, (_, i) => list.at(first + i));
    const loadedRows = between.flatMap((one) => one ?? []);
    if (loadedRows.length === between.length) {
      setAll(loadedRows);
      return;
    }
    list.read(first, last).then(setAll, ({ message }: Error) => say(message));
  };
}

interface ChoiceProps {
  label?: string;
  isChosen: boolean;
  isDisabled?: boolean;
  onToggle: (hasShift: boolean) => void;
}

export function Choice({ label = 'Select this row', isChosen, isDisabled = false, onToggle }: ChoiceProps) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={isChosen}
      disabled={isDisabled}
      onChange={({ nativeEvent }) => onToggle(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
    />
  );
}
