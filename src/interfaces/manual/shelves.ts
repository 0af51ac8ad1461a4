/** A page of the manual: `README.md` or a file of `docs/`. */
export interface Entry {
  /** In the page's address. */
  name: string;
  /** From the folder of the project. */
  file: string;
  /** Instead of the title of the file. */
  title?: string;
  about: string;
}

export interface Shelf {
  title: string;
  entries: readonly Entry[];
}

const doc = (name: string, about: string): Entry => ({ name, file: `docs/${name}.md`, about });

/** Every page, in the order in which the manual shows them. */
export const SHELVES: readonly Shelf[] = [
  {
    title: 'First steps',
    entries: [
      {
        name: 'start',
        file: 'README.md',
        title: 'Start here',
        about: 'one command, a first search, from a click to a commission',
      },
      doc('first-campaign', 'from a page where creators apply to the first payout'),
      doc('selling-on-shopify', 'a shop, its codes and its links, in half an hour'),
      doc('moving', 'creators, codes, orders and commissions of another tool'),
      doc('agencies', 'several brands, each with its own people, keys and money'),
    ],
  },
  {
    title: 'Concepts',
    entries: [
      doc('glossary', 'the words of the app and the API'),
      doc('attribution', 'codes, links, clicks, orders, subscriptions, imports, the ledger'),
      doc('terms', 'rates by rule, renewals, caps and budgets: ten orders to the cent'),
      doc('money', 'payouts, statements, disputes, closing a month'),
      doc('analytics', 'what each figure counts, breakdowns, comparisons, returns, customers'),
    ],
  },
  {
    title: 'Guides',
    entries: [
      doc('web-app', 'sign-in, people, roles, pages'),
      doc('searching', 'places, totals, deep pages, credits'),
      doc('campaigns', "the brand's own records, idempotency, CSV, audit log"),
      doc('workflow', "briefs, contracts, deliverables and creators' pages"),
      doc('assets-and-messages', 'files, folders, rights; conversations and the contact guard'),
      doc('shipments-and-content', 'parcels, carriers, share pages; posts and their metrics'),
      doc('stores', "Shopify, WooCommerce, and the generic store's protocol"),
      doc('people', 'erasing a creator or a buyer, or telling them what is kept'),
      doc('jobs', 'files for a data warehouse, large months, comparisons with a store, reports and alerts'),
      doc('webhooks', 'subscriptions, signatures, retries, the event feed, `listen`'),
      doc('agents', 'tools, policy, plans that a person applies'),
      doc('clients', 'TypeScript and Python'),
    ],
  },
  {
    title: 'Reference and operating',
    entries: [
      doc('legacy', 'how `/api/v1` differs'),
      doc('indexing', 'imports, upserts, rollback'),
      doc('operating', 'production, variables, size, TLS, the first sign-in'),
      doc('engines', 'what works while one is down, several nodes of each'),
      doc('administration', 'brands, plans and keys, commands, background work, email, metrics'),
      doc('backup', 'backup and restore, upgrades, a new secret'),
      doc('scaling', 'what was measured with several workers and nodes, what was not, and what limits growth'),
      doc('measured', 'benchmarks and their results'),
      { name: 'changelog', file: 'CHANGELOG.md', about: 'what changed in each release' },
      doc('developing', 'tests, layout, adding a resource, an email, a page or an event'),
      ...['access', 'directory', 'workflow', 'attribution', 'money', 'stores', 'transport', 'webhooks'].map(
        (topic) => ({
          name: `decisions-${topic}`,
          file: `docs/decisions/${topic}.md`,
          about: 'what was decided, and why',
        }),
      ),
      {
        name: 'decisions-doors-under-load',
        file: 'docs/decisions/doors-under-load.md',
        about: 'what strangers may do, and the limits on it',
      },
    ],
  },
];

/** The subject of a page, with a capital letter. */
export const describeEntry = ({ about }: Entry): string =>
  about.replaceAll('`', '').replace(/^./, (letter) => letter.toUpperCase());

export const ENTRIES: readonly Entry[] = SHELVES.flatMap(({ entries }) => entries);
