import { useState } from 'react';

/** The rows of a table that are selected, by their keys. */
export interface Selection {
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
}

const NONE: ReadonlySet<string> = new Set();

/** A selection under the filters of a list. Other filters begin with none: nobody decides on rows they no longer see. */
export function useSelection(filters: object): Selection & { drop: (done: Iterable<string>) => void } {
  const of = JSON.stringify(filters);
  const [kept, setKept] = useState({ of, selected: NONE });
  return {
    selected: kept.of === of ? kept.selected : NONE,
    onSelect: (selected) => setKept({ of, selected }),
    // Rows that were selected while the work ran stay selected.
    drop: (done) => {
      const gone = new Set(done);
      setKept((now) => ({ ...now, selected: new Set([...now.selected].filter((key) => !gone.has(key))) }));
    },
  };
}
