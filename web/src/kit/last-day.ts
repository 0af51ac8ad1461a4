/** The end of a day in UTC: the API reads a date as its beginning, but a last day counts too. */
export const endOf = (date: string) => `${date}T23:59:59.999Z`;
