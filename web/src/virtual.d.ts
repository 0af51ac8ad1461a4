declare module 'virtual:operations' {
  export const operations: Readonly<
    Record<
      string,
      readonly [method: string, path: string, rank: number, outline: Readonly<Record<string, 'array' | 'object'>>]
    >
  >;
}
