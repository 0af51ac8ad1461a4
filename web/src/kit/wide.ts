import { useSyncExternalStore } from 'react';

/** From this width on, an item has room beside its list. */
const wide = window.matchMedia('(min-width: 1100px)');
/** As in the styles. */
const phone = window.matchMedia('(max-width: 640px)');

const watch = (media: MediaQueryList) => (change: () => void) => {
  media.addEventListener('change', change);
  return () => media.removeEventListener('change', change);
};
const [watchWide, watchPhone] = [watch(wide), watch(phone)];

export const useIsWide = (): boolean => useSyncExternalStore(watchWide, () => wide.matches);
export const useIsPhone = (): boolean => useSyncExternalStore(watchPhone, () => phone.matches);
