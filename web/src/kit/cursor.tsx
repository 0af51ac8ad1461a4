import { type ReactNode, useState } from 'react';
import { Button } from './parts.tsx';

/** Pages of a list that grows at its head, so that a page is found by the last row of the one before. */
export function useCursor(): { after: string | undefined; pager: (next: string | null) => ReactNode } {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const after = cursors.at(-1);
  // A second press of Older before the next page has loaded would repeat the same page.
  const pager = (next: string | null) =>
    (after !== undefined || next !== null) && (
      <div className="row">
        <Button isDisabled={after === undefined} onPress={() => setCursors(cursors.slice(0, -1))}>
          Newer
        </Button>
        <Button
          isDisabled={next === null}
          onPress={() => next !== null && next !== after && setCursors([...cursors, next])}
        >
          Older
        </Button>
      </div>
    );
  return { after, pager };
}
