import { createContext } from 'react';

/** The element that scrolls: a dialog's, or else the window. */
export const Scroller = createContext<Element | undefined>(undefined);
