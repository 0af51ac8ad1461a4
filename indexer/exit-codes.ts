export const FAILED = 1;
/** An import waits for a person: for `approve` or `discard`, or for a mapping. */
export const HELD = 3;
