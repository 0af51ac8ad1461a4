import { useVirtualizer, useWindowVirtualizer, type VirtualItem, type Virtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useContext, useEffect, useLayoutEffect, useState } from 'react';
import { Scroller } from './scroller.ts';

/** Extra items rendered above and below the visible ones, so that scrolling and the Tab key find them there. */
const SPARE = 12;

export interface Sight {
  items: readonly VirtualItem[];
  /** The height of the items that are not rendered, above and below. */
  before: number;
  after: number;
  measure: (element: Element | null) => void;
}

interface InSightProps {
  count: number;
  /** The height of an item until it is measured. */
  size: number;
  /** The element around all items. */
  frame: RefObject<HTMLElement | null>;
  onSee: (first: number, last: number) => void;
  /** So many items of equal height stand beside each other. */
  lanes?: number;
  /** For a dialog: rendering starts with the last item. */
  startsAtEnd?: boolean;
  children: (sight: Sight) => ReactNode;
}

/** Renders only the visible ones of any number of items. */
export function InSight(props: InSightProps) {
  const popup = useContext(Scroller);
  return popup ? <InPopup {...props} popup={popup} /> : <InWindow {...props} />;
}

/** The frame's offset within the scrolling element. */
function useTop({ frame, count }: InSightProps, popup?: Element): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const { top: at = 0 } = frame.current?.getBoundingClientRect() ?? {};
    setTop(popup ? at - popup.getBoundingClientRect().top + popup.scrollTop : at + window.scrollY);
  }, [frame, popup, count]);
  return top;
}

function InWindow(props: InSightProps) {
  const top = useTop(props);
  const { count, size, lanes = 1 } = props;
  // Of items in lanes, the spare ones are whole rows.
  const overscan = lanes > 1 ? 1 : SPARE;
  const virtual = useWindowVirtualizer({ count, lanes, estimateSize: () => size, overscan, scrollMargin: top });
  return <Drawn {...props} virtual={virtual} top={top} />;
}

function InPopup({ popup, ...props }: InSightProps & { popup: Element }) {
  const top = useTop(props, popup);
  const virtual = useVirtualizer({
    count: props.count,
    estimateSize: () => props.size,
    overscan: SPARE,
    scrollMargin: top,
    getScrollElement: () => popup,
    ...(props.startsAtEnd ? { initialOffset: props.count * props.size } : {}),
  });
  return <Drawn {...props} virtual={virtual} top={top} />;
}

interface DrawnProps<Element_ extends Element | Window> extends InSightProps {
  virtual: Virtualizer<Element_, Element>;
  top: number;
}

function Drawn<Element_ extends Element | Window>({ virtual, top, onSee, children }: DrawnProps<Element_>) {
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => onSee(first, last), [first, last, onSee]);
  return children({
    items,
    before: (items[0]?.start ?? top) - top,
    after: virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top),
    measure: virtual.measureElement,
  });
}
