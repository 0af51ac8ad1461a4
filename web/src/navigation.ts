import { lazyRouteComponent as page } from '@tanstack/react-router';

/**
 * Every page, in the order of a brand's work; the menu and the routes are generated from this. A page `under` another is
 * reached from a row of links on top of that one, so that the menu is short. A hint tells neighbours apart.
 */
export const NAVIGATION = [
  {
    title: '',
    links: [
      { to: '/', label: 'Home', page: page(() => import('./pages/home.tsx'), 'Home') },
      {
        to: '/analytics',
        label: 'Analytics',
        hint: 'Sales, clicks and commissions over time',
        page: page(() => import('./pages/analytics.tsx'), 'Analytics'),
      },
      {
        to: '/customers',
        label: 'Customers',
        under: '/analytics',
        hint: 'New and returning customers that creators bring',
        page: page(() => import('./pages/customers.tsx'), 'Customers'),
      },
      {
        to: '/returns',
        label: 'Profit',
        under: '/analytics',
        hint: 'What campaigns and creators bring in after their costs',
        page: page(() => import('./pages/returns.tsx'), 'Returns'),
      },
      { to: '/clicks', label: 'Clicks', under: '/analytics', page: page(() => import('./pages/clicks.tsx'), 'Clicks') },
      {
        to: '/reports',
        label: 'Reports and alerts',
        under: '/analytics',
        hint: 'Scheduled reports and alerts',
        page: page(() => import('./pages/reports.tsx'), 'ReportsPage'),
      },
    ],
  },
  {
    title: 'Creators',
    links: [
      { to: '/directory', label: 'Directory', page: page(() => import('./pages/directory.tsx'), 'Directory') },
      { to: '/lists', label: 'Lists', under: '/directory', page: page(() => import('./pages/lists.tsx'), 'Lists') },
      { to: '/roster', label: 'Roster', page: page(() => import('./pages/roster.tsx'), 'Roster') },
      {
        to: '/groups',
        label: 'Groups',
        under: '/roster',
        hint: 'Creators who share a deal',
        page: page(() => import('./pages/groups.tsx'), 'Groups'),
      },
      { to: '/campaigns', label: 'Campaigns', page: page(() => import('./pages/campaigns.tsx'), 'Campaigns') },
      {
        to: '/applications',
        label: 'Applications',
        under: '/campaigns',
        page: page(() => import('./pages/applications.tsx'), 'Applications'),
      },
    ],
  },
  {
    title: 'Work',
    links: [
      {
        to: '/conversations',
        label: 'Conversations',
        page: page(() => import('./pages/conversations.tsx'), 'Conversations'),
      },
      { to: '/contracts', label: 'Contracts', page: page(() => import('./pages/contracts.tsx'), 'Contracts') },
      {
        to: '/deliverables',
        label: 'Deliverables',
        under: '/contracts',
        page: page(() => import('./pages/deliverables.tsx'), 'Deliverables'),
      },
      { to: '/briefs', label: 'Briefs', under: '/contracts', page: page(() => import('./pages/briefs.tsx'), 'Briefs') },
      { to: '/shipments', label: 'Shipments', page: page(() => import('./pages/shipments.tsx'), 'Shipments') },
      {
        to: '/content',
        label: 'Content',
        hint: 'Creators’ posts and how they perform',
        page: page(() => import('./pages/content.tsx'), 'Content'),
      },
      {
        to: '/assets',
        label: 'Content library',
        under: '/content',
        hint: 'Files and their usage rights',
        page: page(() => import('./pages/assets.tsx'), 'Assets'),
      },
    ],
  },
  {
    title: 'Money',
    links: [
      { to: '/links', label: 'Links and codes', page: page(() => import('./pages/links.tsx'), 'Links') },
      { to: '/orders', label: 'Orders', page: page(() => import('./pages/orders.tsx'), 'Orders') },
      {
        to: '/reconciliation',
        label: 'Reconciliation',
        under: '/orders',
        hint: 'Compare your store’s orders with the ones recorded here',
        page: page(() => import('./pages/reconciliation.tsx'), 'Reconciliation'),
      },
      {
        to: '/commissions',
        label: 'Commissions',
        hint: 'What each order earns a creator',
        page: page(() => import('./pages/commissions.tsx'), 'Commissions'),
      },
      { to: '/payouts', label: 'Payouts', page: page(() => import('./pages/payouts.tsx'), 'Payouts') },
      {
        to: '/statements',
        label: 'Statements',
        under: '/payouts',
        hint: 'What a creator earned and was paid in a month',
        page: page(() => import('./pages/statements.tsx'), 'Statements'),
      },
      {
        to: '/disputes',
        label: 'Disputes',
        under: '/payouts',
        page: page(() => import('./pages/disputes.tsx'), 'Disputes'),
      },
      {
        to: '/journal',
        label: 'Journal',
        under: '/payouts',
        hint: 'Every movement of money, as double entries',
        page: page(() => import('./pages/journal.tsx'), 'Journal'),
      },
    ],
  },
  {
    title: 'Setup',
    links: [
      { to: '/settings', label: 'Settings', page: page(() => import('./pages/settings.tsx'), 'Settings') },
      { to: '/stores', label: 'Stores', under: '/settings', page: page(() => import('./pages/stores.tsx'), 'Stores') },
      { to: '/people', label: 'People', under: '/settings', page: page(() => import('./pages/people.tsx'), 'People') },
      {
        to: '/imports',
        label: 'Imports',
        under: '/settings',
        hint: 'Past orders, creators and payments from other tools',
        page: page(() => import('./pages/imports.tsx'), 'Imports'),
      },
      {
        to: '/exports',
        label: 'Exports',
        under: '/settings',
        page: page(() => import('./pages/exports.tsx'), 'Exports'),
      },
      { to: '/keys', label: 'API keys', under: '/settings', page: page(() => import('./pages/keys.tsx'), 'Keys') },
      {
        to: '/requests',
        label: 'API requests',
        under: '/settings',
        page: page(() => import('./pages/requests.tsx'), 'Requests'),
      },
      {
        to: '/webhooks',
        label: 'Webhooks',
        under: '/settings',
        page: page(() => import('./pages/webhooks.tsx'), 'Webhooks'),
      },
      { to: '/agents', label: 'Agents', under: '/settings', page: page(() => import('./pages/agents.tsx'), 'Agents') },
      {
        to: '/rights',
        label: 'Privacy requests',
        under: '/settings',
        hint: 'Requests for erasure, or for a copy of someone’s data',
        page: page(() => import('./pages/rights.tsx'), 'Rights'),
      },
      { to: '/audit', label: 'Audit log', under: '/settings', page: page(() => import('./pages/audit.tsx'), 'Audit') },
    ],
  },
] as const;

export type MenuGroup = (typeof NAVIGATION)[number];
export type MenuPage = MenuGroup['links'][number];

export const PAGES = NAVIGATION.flatMap(({ links }): readonly MenuPage[] => links);

/** The entry of the menu that a page belongs to. */
export const getSection = (one: MenuPage): MenuPage['to'] => ('under' in one ? one.under : one.to);

/** The page of the menu that an address belongs to, such as that of one campaign. */
export function findPage(path: string): MenuPage | undefined {
  const within = path.replace(/^\/app(?=\/|$)/, '').replace(/^\/creators(?=\/)/, '/roster') || '/';
  return PAGES.find(({ to }) => within === to || (to !== '/' && within.startsWith(`${to}/`)));
}

/** Pages of one item. They are not in the menu. */
export const ITEM_PAGES = {
  creator: page(() => import('./pages/creator.tsx'), 'Creator'),
  contract: page(() => import('./pages/contract-document.tsx'), 'ContractDocument'),
  campaign: page(() => import('./pages/campaign.tsx'), 'CampaignPage'),
  newImport: page(() => import('./pages/import-new.tsx'), 'NewImport'),
  import: page(() => import('./pages/import.tsx'), 'ImportPage'),
  openItems: page(() => import('./pages/open-items.tsx'), 'OpenItems'),
  pastCommissions: page(() => import('./pages/past-commissions.tsx'), 'PastCommissions'),
};
