import { useState } from 'react';

/** The rows of a table that are selected, by their keys. */
export interface Selection<Row> {
  selected: ReadonlyMap<string, Row>;
  onSelect: (selected: ReadonlyMap<string, Row>) => void;
}

/** A selection under the filters of a list. Other filters begin with none: nobody decides on rows they no longer see. */
export function useSelection<Row>(filters: object): Selection<Row> & { drop: (keys: Iterable<string>) => void } {
  const of = JSON.stringify(filters);
  const [selection, setSelection] = useState<{ of: string; selected: ReadonlyMap<string, Row> }>({
    of,
    selected: new Map(),
  });
  return {
    selected: selection.of === of ? selection.selected : new Map(),
    onSelect: (selected) => setSelection({ of, selected }),
    // Rows that were selected while the work ran stay selected.
    drop: (keys) => {
      const droppedKeys = new Set(keys);
      setSelection((now) => ({
        ...now,
        selected: new Map([...now.selected].filter(([key]) => !droppedKeys.has(key))),
      }));
    },
  };
}
