/** The same day and time in UTC, `months` later; the last day of the month if it is shorter. */
export function addMonths(at: Date, months: number): Date {
  const result = new Date(at);
  result.setUTCDate(1);
  result.setUTCMonth(result.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(result.getUTCFullYear(), result.getUTCMonth() + 1, 0)).getUTCDate();
  result.setUTCDate(Math.min(at.getUTCDate(), lastDay));
  return result;
}
