import { InvalidArgumentError, Option } from 'commander';

/** A non-blank argument, so that a variable that a script forgot to set is an error and not a name or a file. */
export function filled(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('must not be blank.');
  return value;
}

/** A parser of whole numbers within bounds. */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= least && number <= most)) {
      throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
    }
    return number;
  };
}

/** Selects the brand of a command. */
export const brandOption = () =>
  new Option('--brand <id or name>', 'the brand; needed only if there are several').argParser(filled);
