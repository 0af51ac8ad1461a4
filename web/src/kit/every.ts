/**
 * An enum's values in the order in which the page shows them. `T` comes from the API's own types: a value that is missing here,
 * or that the API does not have, does not compile.
 */
export const listEnum =
  <T extends string>() =>
  <const List extends readonly [T, ...T[]]>(
    list: List & ([Exclude<T, List[number]>] extends [never] ? unknown : { missing: Exclude<T, List[number]> }),
  ): List =>
    list;
