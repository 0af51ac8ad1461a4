import { useEffect } from 'react';

/** The title of the browser's tab, until the page or panel is left. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (!title) return;
    const before = document.title;
    document.title = `${title} – Rollcall`;
    return () => {
      document.title = before;
    };
  }, [title]);
}
