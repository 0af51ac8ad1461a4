import { useId } from 'react';
import { words } from './format.ts';

interface TabsProps<T extends string> {
  /** Names the choice for screen readers. */
  legend: string;
  options: readonly T[];
  chosen: T;
  onChoose: (one: T) => void;
  toLabel?: (one: T) => string;
}

/** A choice between a few visible options. */
export function Tabs<T extends string>({ legend, options, chosen, onChoose, toLabel = words }: TabsProps<T>) {
  const name = useId();
  return (
    <fieldset className="tabs">
      <legend className="sr-only">{legend}</legend>
      {options.map((one) => (
        <label key={one} className="tab">
          <input type="radio" name={name} className="sr-only" checked={chosen === one} onChange={() => onChoose(one)} />
          {toLabel(one)}
        </label>
      ))}
    </fieldset>
  );
}
