import type { ReactNode } from 'react';
import { Menu } from './menu.tsx';

/** From this number on, a person may choose the columns. */
const MANY_COLUMNS = 4;

interface ColumnChoiceProps {
  caption: string;
  heads: readonly string[];
  hidden: readonly string[];
  toggle: (head: string) => void;
}

function ColumnChoice({ caption, heads, hidden, toggle }: ColumnChoiceProps) {
  return (
    <Menu label={`Columns of ${caption}`} text="Columns">
      {heads.map((head) => (
        <label key={head} className="option">
          <input type="checkbox" checked={!hidden.includes(head)} onChange={() => toggle(head)} />
          {head}
        </label>
      ))}
    </Menu>
  );
}

interface TopProps {
  caption: string;
  /** The number of rows, in words. */
  count: ReactNode;
  columns: readonly { head: string }[];
  hidden: readonly string[];
  toggle: (head: string) => void;
  order?: string | undefined;
  children?: ReactNode;
}

/** Above the heads of a table: the number of its rows, and the choice of its columns. */
export function Top({ caption, count, columns, hidden, toggle, order, children }: TopProps) {
  return (
    <div className="table-top">
      <p className="count" role="status">
        {count}
      </p>
      {order !== undefined && <p className="count">{order}</p>}
      {children}
      {columns.length >= MANY_COLUMNS && (
        <div className="wide">
          <ColumnChoice
            caption={caption}
            hidden={hidden}
            toggle={toggle}
            heads={columns.slice(1).map(({ head }) => head)}
          />
        </div>
      )}
    </div>
  );
}
