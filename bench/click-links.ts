/** The links and visitors of the bench, the same for every side. */
export const LINK_DIGITS = 4;
export const slugOf = (i: number): string => `bench-link-${String(i).padStart(LINK_DIGITS, '0')}`;
export const destinationOf = (i: number): string => `https://shop.example/products/${i}?utm_source=creator`;

/** The user agents of visitors: half of them phones. */
export const AGENTS = Array.from({ length: 40 }, (_, i) => {
  const version = 120 + (i % 20);
  return i < 20
    ? `Mozilla/5.0 (iPhone; CPU iPhone OS 17_${i} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.${i} Mobile/15E148 Safari/604.1`
    : `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
});
