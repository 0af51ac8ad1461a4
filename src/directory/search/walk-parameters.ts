import { type Problem, validationError } from '../../kit/values/errors.ts';
import { findNearestName } from '../../kit/values/nearest-name.ts';

const isBodyField = (name: string) => name.startsWith('body.');

/** The parameters that a search ignores: unknown ones, and blank ones. */
export interface IgnoredParameters {
  ignored: readonly string[];
  blank: readonly string[];
}

/** The problems with parameters that would not narrow a walk, which is paid by its length. */
export function listIgnoredProblems({ ignored, blank }: IgnoredParameters, knownNames: readonly string[]): Problem[] {
  const unknown = ignored.map((field): Problem => {
    const near = findNearestName(field, knownNames);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    return { field, code: 'unknown', message: `is not a parameter of search.${hint}` };
  });
  const empty = blank.map((field): Problem => {
    return { field, code: 'blank', message: 'is blank, which a walk does not ignore: leave it out, or give a value.' };
  });
  return [...unknown, ...empty];
}

/** Throws VALIDATION_ERROR if a walk would run past a parameter. */
export function assertNothingIgnored(parameters: IgnoredParameters, knownNames: readonly string[]): void {
  const problems = listIgnoredProblems(parameters, knownNames);
  if (problems.length > 0) throw validationError(problems);
}

/** `meta.ignored` of a page. */
export function listIgnored({ ignored, blank }: IgnoredParameters): { ignored?: string[] } {
  const names = [...ignored.filter((name) => !isBodyField(name)), ...blank];
  return names.length === 0 ? {} : { ignored: names };
}
