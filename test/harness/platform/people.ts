import { unique } from '../app.ts';

export const email = () => `${unique('ana')}@example.com`;
export const handle = () => unique('h');

/** A time as the API answers it. */
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
