/** The values of a form that differ from the original ones: a change sends nothing else. */
export function changed<T extends object>(values: T, was: { [Name in keyof T]: unknown }): Partial<T> {
  const differing: Partial<T> = {};
  for (const name in values) {
    if (JSON.stringify(values[name]) !== JSON.stringify(was[name])) differing[name] = values[name];
  }
  return differing;
}

export const isEmpty = (change: object) => Object.keys(change).length === 0;

/** The day of a time, as a date input needs it. */
export const toDay = (time: string | null) => time?.slice(0, 10) ?? null;
