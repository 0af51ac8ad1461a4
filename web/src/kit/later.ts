import { useEffect, useState } from 'react';

/** A value once it has not changed for a moment, such as a text that is being typed. */
export function useLater<T>(value: T, afterMs = 250): T {
  const [settledValue, setSettledValue] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettledValue(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settledValue;
}
