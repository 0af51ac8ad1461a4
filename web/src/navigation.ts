import { lazyRouteComponent as page } from '@tanstack/react-router';

/** Every page, in the order of a brand's work; the menu and the routes are generated from this. A hint tells neighbours apart. */
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
        hint: 'The customers whom creators bring, and whether they come back',
        page: page(() => import('./pages/customers.tsx'), 'Customers'),
      },
      {
        to: '/returns',
        label: 'Profit',
        hint: 'What campaigns and creators bring in after their costs',
        page: page(() => import('./pages/returns.tsx'), 'Returns'),
      },
      {
        to: '/reports',
        label: 'Reports and alerts',
        hint: 'Figures by mail, and warnings',
        page: page(() => import('./pages/reports.tsx'), 'ReportsPage'),
      },
      { to: '/clicks', label: 'Clicks', page: page(() => import('./pages/clicks.tsx'), 'Clicks') },
    ],
  },
  {
    title: 'Creators',
    links: [
      { to: '/directory', label: 'Directory', page: page(() => import('./pages/directory.tsx'), 'Directory') },
      { to: '/lists', label: 'Lists', page: page(() => import('./pages/lists.tsx'), 'Lists') },
      { to: '/roster', label: 'Roster', page: page(() => import('./pages/roster.tsx'), 'Roster') },
      {
        to: '/groups',
        label: 'Groups',
        hint: 'Creators with one deal',
        page: page(() => import('./pages/groups.tsx'), 'Groups'),
      },
      { to: '/campaigns', label: 'Campaigns', page: page(() => import('./pages/campaigns.tsx'), 'Campaigns') },
      {
        to: '/applications',
        label: 'Applications',
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
      { to: '/briefs', label: 'Briefs', page: page(() => import('./pages/briefs.tsx'), 'Briefs') },
      { to: '/contracts', label: 'Contracts', page: page(() => import('./pages/contracts.tsx'), 'Contracts') },
      {
        to: '/deliverables',
        label: 'Deliverables',
        page: page(() => import('./pages/deliverables.tsx'), 'Deliverables'),
      },
      { to: '/shipments', label: 'Shipments', page: page(() => import('./pages/shipments.tsx'), 'Shipments') },
      {
        to: '/content',
        label: 'Content',
        hint: 'What creators posted, and how it does',
        page: page(() => import('./pages/content.tsx'), 'Content'),
      },
      {
        to: '/assets',
        label: 'Content library',
        hint: 'Files, and what you may use them for',
        page: page(() => import('./pages/assets.tsx'), 'Assets'),
      },
    ],
  },
  {
    title: 'Money',
    links: [
      { to: '/orders', label: 'Orders', page: page(() => import('./pages/orders.tsx'), 'Orders') },
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
        hint: 'What a creator earned and was paid in a month',
        page: page(() => import('./pages/statements.tsx'), 'Statements'),
      },
      {
        to: '/journal',
        label: 'Journal',
        hint: 'Every movement of money, as double entries',
        page: page(() => import('./pages/journal.tsx'), 'Journal'),
      },
      {
        to: '/reconciliation',
        label: 'Reconciliation',
        hint: 'Your shop’s orders compared with those recorded here',
        page: page(() => import('./pages/reconciliation.tsx'), 'Reconciliation'),
      },
      { to: '/disputes', label: 'Disputes', page: page(() => import('./pages/disputes.tsx'), 'Disputes') },
      { to: '/links', label: 'Links and codes', page: page(() => import('./pages/links.tsx'), 'Links') },
    ],
  },
  {
    title: 'Setup',
    /** Wanted now and then: folded, so that the daily work fits a small screen. */
    isFolded: true,
    links: [
      { to: '/stores', label: 'Stores', page: page(() => import('./pages/stores.tsx'), 'Stores') },
      {
        to: '/imports',
        label: 'Imports',
        hint: 'Files of other tools: past orders, creators, payments',
        page: page(() => import('./pages/imports.tsx'), 'Imports'),
      },
      { to: '/webhooks', label: 'Webhooks', page: page(() => import('./pages/webhooks.tsx'), 'Webhooks') },
      { to: '/exports', label: 'Exports', page: page(() => import('./pages/exports.tsx'), 'Exports') },
      { to: '/keys', label: 'API keys', page: page(() => import('./pages/keys.tsx'), 'Keys') },
      { to: '/requests', label: 'API requests', page: page(() => import('./pages/requests.tsx'), 'Requests') },
      { to: '/agents', label: 'Agents', page: page(() => import('./pages/agents.tsx'), 'Agents') },
      { to: '/people', label: 'People', page: page(() => import('./pages/people.tsx'), 'People') },
      {
        to: '/rights',
        label: 'People’s rights',
        hint: 'Who asked to be erased, or what is kept of them',
        page: page(() => import('./pages/rights.tsx'), 'Rights'),
      },
      { to: '/audit', label: 'Audit log', page: page(() => import('./pages/audit.tsx'), 'Audit') },
      { to: '/settings', label: 'Settings', page: page(() => import('./pages/settings.tsx'), 'Settings') },
    ],
  },
] as const;

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
