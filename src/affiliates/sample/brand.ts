/** The name of the brand of `npm start` in commands, and in the app while it has no sample. */
export const DEMO_NAME = 'demo';

/** The mark of the sample's brand, as an address that needs no network: a drop on a rounded square. */
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="#b0583a"/><path d="M20 7c6 7 9 11 9 15a9 9 0 0 1-18 0c0-4 3-8 9-15z" fill="#fff4ea"/><path d="M20 27a5 5 0 0 0 5-5" fill="none" stroke="#b0583a" stroke-width="2" stroke-linecap="round"/></svg>`;

/** The brand that a sample shows. Nothing reaches its domain, which is reserved. */
export const SAMPLE_BRAND = {
  name: 'Lumen Skin',
  logo: `data:image/svg+xml;base64,${Buffer.from(LOGO).toString('base64')}`,
  website: 'https://lumen.example',
  contactName: 'Maya Lindqvist',
  contactEmail: 'creators@lumen.example',
  industry: 'Skin care',
  description: 'Skin care without perfume from Oakland, in bottles that can be refilled.',
} as const;
