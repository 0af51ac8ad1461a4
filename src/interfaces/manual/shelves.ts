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

/** Pages behind one entry of a shelf, which leads to a list of them. */
export interface Subshelf {
  name: string;
  title: string;
  about: string;
  /** The titles of a part's pages may begin with the title of the part, as in "Decisions: money". */
  parts: readonly { title: string; entries: readonly Entry[] }[];
}

export interface Shelf {
  title: string;
  about: string;
  entries: readonly (Entry | Subshelf)[];
}

const doc = (name: string, about: string): Entry => ({ name, file: `docs/${name}.md`, about });
const decisions = (topic: string, about: string): Entry => ({
  name: `decisions-${topic}`,
  file: `docs/decisions/${topic}.md`,
  about,
});

const HOW_IT_IS_BUILT: Subshelf = {
  name: 'how-it-is-built',
  title: 'How it is built',
  about: 'for those who change the code: tests and layout, what was measured, and why things are as they are',
  parts: [
    {
      title: 'Work on it',
      entries: [
        doc('developing', 'tests, layout, adding a resource, an email, a page or an event'),
        doc('measured', 'benchmarks and their results'),
      ],
    },
    {
      title: 'Decisions',
      entries: [
        decisions('access', 'metering a call, a period of credits, limits of keys, passkeys and agents'),
        decisions('directory', 'places and relevance, totals, new indexes, opt-outs'),
        decisions('workflow', "contracts, briefs, deadlines, plans, creators' pages"),
        decisions('attribution', 'clicks, codes and renewals, breakdowns, rollups'),
        decisions('money', 'currencies, refunds, payouts, seals and balances that never change'),
        decisions('stores', 'webhooks and sweeps, folding deliveries, tokens, reconciliation'),
        decisions('transport', 'requests and bodies, published URLs, tools for agents, jobs'),
        decisions('webhooks', 'turns, claims and retries of deliveries'),
        decisions('doors-under-load', 'what strangers may do, and the limits on it'),
      ],
    },
  ],
};

/** Every page, in the order in which the manual shows them. */
export const SHELVES: readonly Shelf[] = [
  {
    title: 'First steps',
    about: 'Run it, and follow one sale from a click to a payout.',
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
    about: 'The words, and the rules behind figures and money.',
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
    about: 'One page for each thing that you want to do.',
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
    about: 'For those who run the server, or move to it from the older interface.',
    entries: [
      doc('operating', 'production, variables, size, TLS, the first sign-in'),
      doc('engines', 'what works while one is down, several nodes of each'),
      doc('administration', 'brands, plans and keys, commands, background work, email, metrics'),
      doc('backup', 'backup and restore, upgrades, a new secret'),
      doc('scaling', 'what was measured with several workers and nodes, what was not, and what limits growth'),
      doc('indexing', 'imports, upserts, rollback'),
      doc('legacy', 'how `/api/v1` differs'),
      { name: 'changelog', file: 'CHANGELOG.md', about: 'what changed in each release' },
      HOW_IT_IS_BUILT,
    ],
  },
];

/** The subject of a page, with a capital letter. */
export const describeEntry = ({ about }: Pick<Entry, 'about'>): string =>
  about.replaceAll('`', '').replace(/^./, (letter) => letter.toUpperCase());

export const SUBSHELVES: readonly Subshelf[] = SHELVES.flatMap(({ entries }) =>
  entries.filter((entry) => 'parts' in entry),
);

/** Lists the pages of a subshelf in order. */
export const listPages = ({ parts }: Subshelf): readonly Entry[] => parts.flatMap(({ entries }) => entries);

/** Every page with a file, in order. */
export const ENTRIES: readonly Entry[] = SHELVES.flatMap(({ entries }) =>
  entries.flatMap((entry) => ('parts' in entry ? listPages(entry) : [entry])),
);

/** The shelf of a page, also if it is behind one entry. */
export const findShelf = (name: string): Shelf | undefined =>
  SHELVES.find(({ entries }) =>
    entries.some(
      (entry) => entry.name === name || ('parts' in entry && listPages(entry).some((one) => one.name === name)),
    ),
  );
