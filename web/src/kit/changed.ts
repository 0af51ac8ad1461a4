/** Of a form's values those that are no longer as they were: a change sends nothing else. */
export function changed<T extends object>(values: T, was: { [Name in keyof T]: unknown }): Partial<T> {
  const differing: Partial<T> = {};
  for (const name in values) {
    if (JSON.stringify(values[name]) !== JSON.stringify(was[name])) differing[name] = values[name];
  }
  return differing;
}

export const isEmpty = (change: object) => Object.keys(change).length === 0;

/** The day of a time, as a field of days has it. */
export const dayOf = (time: string | null) => time?.slice(0, 10) ?? null;
