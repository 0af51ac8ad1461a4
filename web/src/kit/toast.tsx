import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react';

const SHOWN_MS = 6_000;
const Say = createContext<(text: string) => void>(() => undefined);

/** Shows a short message about what was done, which screen readers announce. */
export const useSay = () => useContext(Say);

export function Toasts({ children }: { children: ReactNode }) {
  const [text, setText] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const say = useCallback((next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setText(''), SHOWN_MS);
  }, []);
  return (
    <Say value={say}>
      {children}
      <div className="toast" role="status" data-shown={text !== ''}>
        {text}
      </div>
    </Say>
  );
}
