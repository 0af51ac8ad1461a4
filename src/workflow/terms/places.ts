/** The first of a link's places that has terms decides alone: terms of several places are never merged. */
export const TERMS_PLACES = ['link', 'group', 'campaign', 'brand'] as const;
export type TermsPlace = (typeof TERMS_PLACES)[number];
