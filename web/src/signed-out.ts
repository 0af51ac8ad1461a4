import { callApp } from './call/call.ts';

const WAY_BACK = 'way-back';
const HAD_SESSION = 'had-session';

/** True if a form has text that was typed and not saved. */
const isTyped = () =>
  [
    ...document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
      'form :is(input:not([type="checkbox"], [type="radio"]), textarea)',
    ),
  ].some((field) => field.value !== field.defaultValue);

/** Opens the sign-in page, and remembers the current page for afterwards. */
export function leave(): void {
  if (location.pathname === '/app/sign-in') return;
  // The text would be lost. When the form is sent, its error says that the session has ended.
  if (isTyped()) return;
  sessionStorage.setItem(WAY_BACK, location.pathname + location.search);
  location.assign('/app/sign-in');
}

/** Returns to the page that needed a session. */
export function goBack(): void {
  const back = sessionStorage.getItem(WAY_BACK) ?? '/app';
  sessionStorage.removeItem(WAY_BACK);
  location.assign(back);
}

/** Remembers in the browser that a user is signed in, because scripts cannot read the cookie. */
export const noteSession = (): void => localStorage.setItem(HAD_SESSION, 'yes');

/** A user who signs out deliberately does not see that their session has ended. */
export async function signOut(): Promise<void> {
  await callApp('DELETE', 'session');
  localStorage.removeItem(HAD_SESSION);
  location.assign('/app/sign-in');
}

export const hadSession = (): boolean => localStorage.getItem(HAD_SESSION) !== null;
