import { type ReactNode, useId } from 'react';

interface FileChoiceProps {
  label: string;
  files: readonly File[];
  onChoose: (files: readonly File[]) => void;
  accept?: string;
  isMultiple?: boolean;
  isDisabled?: boolean;
  hint?: ReactNode;
}

/** Chooses files with a button of the app's own, which names what is chosen. Files can be dropped on it. */
export function FileChoice({ label, files, onChoose, accept, isMultiple = false, isDisabled, hint }: FileChoiceProps) {
  const id = useId();
  const button = isMultiple ? 'Choose files' : 'Choose a file';
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="file-choice">
        <span className="button plain" aria-hidden>
          {button}
        </span>
        <span className={files.length === 0 ? 'muted' : undefined}>
          {files.length === 0 ? 'or drop here' : files.map(({ name }) => name).join(', ')}
        </span>
        <input
          id={id}
          type="file"
          multiple={isMultiple}
          accept={accept}
          disabled={isDisabled}
          onChange={({ target }) => onChoose([...(target.files ?? [])])}
        />
      </div>
      {hint && <p className="hint">{hint}</p>}
    </div>
  );
}
