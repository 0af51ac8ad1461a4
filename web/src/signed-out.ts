const KEY = 'way-back';

/** Goes to sign in, and remembers the page for when that is done. */
export function leave(): void {
  if (location.pathname === '/app/sign-in') return;
  sessionStorage.setItem(KEY, location.pathname + location.search);
  location.assign('/app/sign-in');
}

/** Where somebody was when their session ended. */
export const wayBack = (): string | null => sessionStorage.getItem(KEY);

export function goBack(): void {
  const back = wayBack() ?? '/app';
  sessionStorage.removeItem(KEY);
  location.assign(back);
}
