import { useState } from 'react';

/** The rows of a table that are selected, by their keys. */
export interface Selection<Row> {
  selected: ReadonlyMap<string, Row>;
  onSelect: (selected: ReadonlyMap<string, Row>) => void;
}

/** A selection under the filters of a list. Other filters begin with none: nobody decides on rows they no longer see. */
export function useSelection<Row>(filters: object): Selection<Row> & { drop: (done: Iterable<string>) => void } {
  const of = JSON.stringify(filters);
  const [kept, setKept] = useState<{ of: string; selected: ReadonlyMap<string, Row> }>({ of, selected: new Map() });
  return {
    selected: kept.of === of ? kept.selected : new Map(),
    onSelect: (selected) => setKept({ of, selected }),
    // Rows that were selected while the work ran stay selected.
    drop: (done) => {
      const gone = new Set(done);
      setKept((now) => ({ ...now, selected: new Map([...now.selected].filter(([key]) => !gone.has(key))) }));
    },
  };
}
