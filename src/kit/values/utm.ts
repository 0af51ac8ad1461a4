/** The parameters by which placements of a short link are told apart, in the order of their columns. */
export const UTM_NAMES = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;

/** Stands for a value beyond those that are kept of a link and day. */
export const OTHER_VALUE = '(other)';
