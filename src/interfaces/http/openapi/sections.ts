/** A part of the product in the menu of the reference. */
interface Group {
  name: string;
  tags: readonly string[];
}

/** The parts of the product, in the order of the web app's menu. */
const GROUPS: readonly Group[] = [
  { name: 'Find creators', tags: ['Directory', 'Lists', 'Saved searches'] },
  { name: 'Creators', tags: ['Creators', 'Roster', 'Groups', 'Messages', "People's rights"] },
  {
    name: 'Campaigns and work',
    tags: [
      'Campaigns',
      'Applications',
      'Briefs',
      'Contracts',
      'Deliverables',
      'Shipments',
      'Tracked content',
      'Assets',
    ],
  },
  {
    name: 'Sales',
    tags: ['Codes and links', 'Attribution and terms', 'Clicks', 'Orders', 'Customers', 'Stores', 'Fraud rules'],
  },
  { name: 'Money', tags: ['Commissions', 'Payouts', 'Ledger', 'Costs', 'Past commissions'] },
  { name: 'Figures', tags: ['Analytics', 'Affiliates', 'Reports and alerts'] },
  { name: 'Developers', tags: ['Webhooks', 'Jobs', 'Imports', 'Usage', 'Agents', 'Audit log', 'Brand'] },
];

/** Sections that the reference shows beside one broad tag, by the beginning of their operations' paths. */
const SECTIONS: readonly { tag: string; about: string; paths: readonly string[] }[] = [
  {
    tag: 'Codes and links',
    about: 'Discount codes and tracked links of creators. Begin with `POST /v1/affiliates/links`.',
    paths: ['/v1/affiliates/links', '/v1/affiliates/leaks'],
  },
  {
    tag: 'Attribution and terms',
    about: 'The rules that decide which creator an order pays, and the terms that decide how much.',
    paths: ['/v1/affiliates/rules', '/v1/affiliates/terms', '/v1/affiliates/explain', '/v1/affiliates/simulate'],
  },
  {
    tag: 'Customers',
    about: 'Customers whom creators brought, and whose orders keep paying them.',
    paths: ['/v1/customers'],
  },
  {
    tag: 'Stores',
    about: 'Connected stores: what they delivered, and reading their orders again.',
    paths: ['/v1/affiliates/integrations', '/v1/affiliates/reconcile'],
  },
  { tag: 'Ledger', about: 'Every entry of money, with balances at any time.', paths: ['/v1/affiliates/ledger'] },
];

/** The section of an operation in the reference: its tag, or a part of a broad one. */
export function findSection(tag: string, path: string): string {
  if (tag !== 'Affiliates') return tag;
  return SECTIONS.find(({ paths }) => paths.some((begin) => path.startsWith(begin)))?.tag ?? tag;
}

interface Tag {
  name: string;
  description: string;
}

/** The tags of the reference with its sections, and the groups of its menu. A tag without a group would be in no menu. */
export function listSections(tags: readonly Tag[]): { tags: Tag[]; groups: readonly Group[] } {
  const sections = SECTIONS.map(({ tag, about }) => ({ name: tag, description: about }));
  const all = [...tags, ...sections].map((tag) =>
    tag.name === 'Affiliates'
      ? { ...tag, description: 'Codes and links with their results, by creator and campaign.' }
      : tag,
  );
  const grouped = new Set(GROUPS.flatMap((group) => group.tags));
  const others = all.filter(({ name }) => !grouped.has(name)).map(({ name }) => name);
  return { tags: all, groups: others.length === 0 ? GROUPS : [...GROUPS, { name: 'More', tags: others }] };
}
