import { useId } from 'react';

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string])[];
  onChoose: (value: T) => void;
}

/** A choice above a form, whose fields follow it. */
export function ChoiceField<T extends string>({ label, value, options, onChoose }: ChoiceProps<T>) {
  const id = useId();
  const choose = (next: string) => onChoose(options.find(([one]) => one === next)?.[0] ?? value);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={({ target }) => choose(target.value)}>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
