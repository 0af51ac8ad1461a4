/** The links of the bench, the same on every side. */
export const LINK_DIGITS = 4;
export const slugOf = (i: number): string => `bench-link-${String(i).padStart(LINK_DIGITS, '0')}`;
export const destinationOf = (i: number): string => `https://shop.example/products/${i}?utm_source=creator`;
