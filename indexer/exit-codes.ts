export const FAILED = 1;
/** An import was built and waits for `approve` or `discard`. */
export const HELD = 3;
