declare module 'virtual:operations' {
  export const operations: Readonly<
    Record<
      string,
      readonly [method: string, path: string, rank: number, outline: Readonly<Record<string, 'array' | 'object'>>]
    >
  >;
}

declare module 'virtual:forms' {
  /** A field of a body, from the declaration of its operation. */
  export interface DeclaredField {
    name: string;
    /** `moment`: a time, of which the form asks for the day. `pairs`: names with texts. `groups`: a list of groups. */
    kind:
      | ('text' | 'textarea' | 'email' | 'url' | 'number' | 'date' | 'moment' | 'checkbox')
      | ('select' | 'list' | 'pairs' | 'group' | 'groups');
    values?: readonly string[];
    isRequired?: boolean;
    isNullable?: boolean;
    about?: string;
    /** The default. */
    value?: unknown;
    maxLength?: number;
    step?: string;
    min?: number;
    max?: number;
    /** The kind of a list's items. */
    item?: DeclaredField['kind'];
    /** The fields of a group. */
    fields?: readonly DeclaredField[];
  }
  export const forms: Readonly<Record<string, readonly DeclaredField[]>>;
}

declare module 'virtual:lists' {
  /** The closed lists of parameters and fields, by operation and name. */
  export const lists: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

declare module 'virtual:tools' {
  /** The tools that agents may call, by the part of the API. */
  export const tools: readonly (readonly [part: string, tools: readonly (readonly [id: string, summary: string])[]])[];
}
