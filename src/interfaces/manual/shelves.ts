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
  about: 'Change the code: tests, layout, measurements, and the reasons for decisions',
  parts: [
    {
      title: 'Work on it',
      entries: [
        doc('developing', 'Run the tests, and add a resource, an email, a page or an event'),
        doc('measured', 'See how fast it is, on which machine, and how that was measured'),
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

/** The ways into the manual, by who reads it. */
export const ROUTES: readonly { reader: string; steps: readonly { href: string; label: string }[] }[] = [
  {
    reader: 'I run a creator programme',
    steps: [
      { href: '/manual/first-campaign', label: 'Your first campaign' },
      { href: '/manual/selling-on-shopify', label: 'Selling on Shopify' },
      { href: '/manual/moving', label: 'Moving from another tool' },
    ],
  },
  {
    reader: 'I write code',
    steps: [
      { href: '/manual/start', label: 'Start here' },
      { href: '/docs/', label: 'API reference' },
      { href: '/manual/clients', label: 'Clients' },
    ],
  },
  {
    reader: 'I run the server',
    steps: [
      { href: '/manual/operating', label: 'Operating' },
      { href: '/manual/administration', label: 'Administration' },
      { href: '/manual/backup', label: 'Backup' },
    ],
  },
];

/** Every page, in the order in which the manual shows them. */
export const SHELVES: readonly Shelf[] = [
  {
    title: 'First steps',
    about: 'Start here, and follow one sale from a click to a payout.',
    entries: [
      {
        name: 'start',
        file: 'README.md',
        title: 'Start here',
        about: 'Start the server with one command, search, and follow an order from a click to a commission',
      },
      doc('first-campaign', 'Set up a campaign, let creators apply, and pay them for the first time'),
      doc('selling-on-shopify', 'Connect a shop, hand out codes, and check them with one order'),
      doc('moving', 'Bring creators, codes, orders and past commissions from another tool'),
      doc('agencies', 'Run several brands, each with its own people, keys and money'),
    ],
  },
  {
    title: 'Concepts',
    about: 'The words, and the rules behind every figure and amount.',
    entries: [
      doc('glossary', 'Look up a word that the app or the API uses'),
      doc('attribution', 'See why an order paid a creator or did not, and record orders, clicks and renewals'),
      doc('terms', 'Write a deal with rates by rule, renewals, caps and budgets, and check it to the cent'),
      doc('money', 'Approve, pay, correct and close a month, and prove every entry'),
      doc('analytics', 'Read each figure, break it down, and compare periods, returns and customers'),
    ],
  },
  {
    title: 'Guides',
    about: 'One page for each thing that you want to do.',
    entries: [
      doc('web-app', 'Sign in, invite people, choose their roles, and find your way around'),
      doc('searching', 'Find creators by place, audience and topic, and know what a search costs'),
      doc('campaigns', 'Keep campaigns, applications and your roster, by form, API or CSV'),
      doc('workflow', 'Send briefs, have contracts signed, and collect and review work'),
      doc('assets-and-messages', 'Store files with their usage rights, and exchange messages with creators'),
      doc('shipments-and-content', 'Send parcels, track posts, and see what they reached'),
      doc('stores', 'Connect Shopify, WooCommerce or a shop of your own, and keep its clicks'),
      doc('people', 'Erase a creator or a buyer, or tell them what is kept about them'),
      doc('jobs', 'Export to a warehouse, pay large months, compare with a store, and get reports by email'),
      doc('webhooks', 'Receive events, check their signatures, and try them without a public address'),
      doc('agents', 'Let an agent work within limits, and apply what it plans'),
      doc('clients', 'Call the API from TypeScript or Python'),
    ],
  },
  {
    title: 'Reference and operating',
    about: 'For people who run the server, or still use the older interface.',
    entries: [
      doc('operating', 'Go into production, and look up a setting'),
      doc('engines', 'See what keeps working while an engine is down, and run each on several machines'),
      doc('administration', 'Manage brands, plans, keys and email from the command line, and watch metrics'),
      doc('backup', 'Back up, restore, upgrade, and change the secret'),
      doc('scaling', 'Choose machines for your load, based on measurements'),
      doc('indexing', 'Import the directory, update it, and roll an import back'),
      doc('legacy', 'Move a client from `/api/v1`, or keep it'),
      { name: 'changelog', file: 'CHANGELOG.md', about: 'See what changed in each release' },
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
