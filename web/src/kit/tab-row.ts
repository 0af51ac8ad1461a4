import { type RefObject, useEffect, useRef } from 'react';

/** A row of tabs may be wider than a phone: the current one is brought into sight, and a cut edge fades. */
export function useTabRow(current: string): RefObject<HTMLUListElement | null> {
  const row = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const { current: list } = row;
    if (!list) return;
    const mark = () => {
      const after = list.scrollWidth - list.clientWidth - list.scrollLeft;
      list.dataset.cut = [list.scrollLeft > 1 && 'start', after > 1 && 'end'].filter(Boolean).join('-');
    };
    const show = () => {
      const tab = list.querySelector('[aria-current]')?.getBoundingClientRect();
      const { left, width } = list.getBoundingClientRect();
      if (tab) list.scrollLeft += tab.left - left - (width - tab.width) / 2;
      mark();
    };
    // The window may become narrower, or the phone be turned.
    const watch = new ResizeObserver(show);
    watch.observe(list);
    list.addEventListener('scroll', mark, { passive: true });
    show();
    return () => {
      watch.disconnect();
      list.removeEventListener('scroll', mark);
    };
  }, [current]);
  return row;
}
