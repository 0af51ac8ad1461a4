/** The end of a last day in UTC; the API would read the date as its beginning. */
export const toDayEnd = (date: string) => `${date}T23:59:59.999Z`;
