import { useEffect, useState } from 'react';

/** A value once it has not changed for a moment, such as a text that is being typed. */
export function useLater<T>(value: T, afterMs = 250): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
