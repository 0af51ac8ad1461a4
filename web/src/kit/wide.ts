import { useSyncExternalStore } from 'react';

/** From this width on, an item has room beside its list. */
const wide = window.matchMedia('(min-width: 1100px)');

function subscribe(change: () => void): () => void {
  wide.addEventListener('change', change);
  return () => wide.removeEventListener('change', change);
}

export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => wide.matches);
