import { tools } from 'virtual:tools';
import { useState } from 'react';
import { Choose } from '../kit/filters.tsx';
import type { OwnInputs } from '../kit/form.tsx';
import { number } from '../kit/format.ts';

type Which = 'all' | 'some';
const WHICH = [
  ['all', 'All tools'],
  ['some', 'Selected tools'],
] as const;

interface PartProps {
  of: (typeof tools)[number];
  chosen: ReadonlySet<string>;
  onChoose: (ids: readonly string[], isChosen: boolean) => void;
}

/** The tools of one part of the API, which are chosen together or one by one. */
function Part({ of: [name, its], chosen, onChoose }: PartProps) {
  const ids = its.map(([id]) => id);
  const count = ids.filter((id) => chosen.has(id)).length;
  return (
    <li>
      <label className="option">
        <input
          type="checkbox"
          checked={count === ids.length}
          ref={(box) => {
            if (box) box.indeterminate = count > 0 && count < ids.length;
          }}
          onChange={({ target }) => onChoose(ids, target.checked)}
        />
        <span className="strong">{name}</span>
      </label>
      <details>
        <summary aria-label={`Tools of ${name}`}>
          {number(count)} of {number(ids.length)}
        </summary>
        {its.map(([id, summary]) => (
          <label key={id} className="option">
            <input type="checkbox" checked={chosen.has(id)} onChange={({ target }) => onChoose([id], target.checked)} />
            <span>
              {summary} <code className="small muted">{id}</code>
            </span>
          </label>
        ))}
      </details>
    </li>
  );
}

/** The tools that agents may call: all of them, also those to come, or those that are ticked. */
export function useAllowedTools(allowed: readonly string[] | null): OwnInputs {
  const [which, setWhich] = useState<Which>(allowed === null ? 'all' : 'some');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(allowed ?? tools.flatMap(([, its]) => its.map(([id]) => id))),
  );
  const choose = (ids: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const id of ids) {
      if (isChosen) next.add(id);
      else next.delete(id);
    }
    setChosen(next);
  };
  return {
    name: 'allowed_tools',
    read: () => (which === 'all' ? null : [...chosen]),
    render: () => (
      <>
        <Choose ofForm label="Allowed tools" value={which} options={WHICH} onChoose={setWhich} />
        {which === 'some' && (
          <ul className="tools">
            {tools.map((part) => (
              <Part key={part[0]} of={part} chosen={chosen} onChoose={choose} />
            ))}
          </ul>
        )}
      </>
    ),
  };
}
