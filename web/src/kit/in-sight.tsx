import { useVirtualizer, useWindowVirtualizer, type VirtualItem, type Virtualizer } from '@tanstack/react-virtual';
import { createContext, type ReactNode, type RefObject, useContext, useEffect, useLayoutEffect, useState } from 'react';

/** What scrolls: a dialog's own element, or the window where there is none. */
export const Scroller = createContext<Element | undefined>(undefined);

/** Drawn above and below what is in sight, so that scrolling and the Tab key find them there. */
const SPARE = 12;

export interface Sight {
  items: readonly VirtualItem[];
  /** The height of what is not drawn, above and below. */
  before: number;
  after: number;
  measure: (element: Element | null) => void;
}

interface InSightProps {
  count: number;
  /** How high one is, until it is measured. */
  size: number;
  /** Around them all. */
  frame: RefObject<HTMLElement | null>;
  onSee: (first: number, last: number) => void;
  /** In a dialog: the last of them is the first that is drawn. */
  startsAtEnd?: boolean;
  children: (sight: Sight) => ReactNode;
}

/** Draws of any number of things those that are in sight. */
export function InSight(props: InSightProps) {
  const popup = useContext(Scroller);
  return popup ? <InPopup {...props} popup={popup} /> : <InWindow {...props} />;
}

/** Where the frame begins, in what scrolls. */
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
  const { count, size } = props;
  const virtual = useWindowVirtualizer({ count, estimateSize: () => size, overscan: SPARE, scrollMargin: top });
  return <Drawn {...props} virtual={virtual} top={top} />;
}

function InPopup({ popup, ...props }: InSightProps & { popup: Element }) {
  const top = useTop(props, popup);
  const virtual = useVirtualizer({
    ...{ count: props.count, estimateSize: () => props.size, overscan: SPARE, scrollMargin: top },
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
