import { lazyRouteComponent as page } from '@tanstack/react-router';

/** Every page, in the order of a brand's work; the menu and the routes are generated from this. */
export const NAVIGATION = [
  {
    title: '',
    links: [
      { to: '/', label: 'Home', page: page(() => import('./pages/home.tsx'), 'Home') },
      { to: '/analytics', label: 'Analytics', page: page(() => import('./pages/analytics.tsx'), 'Analytics') },
      { to: '/customers', label: 'Customers', page: page(() => import('./pages/customers.tsx'), 'Customers') },
      { to: '/returns', label: 'Profit', page: page(() => import('./pages/returns.tsx'), 'Returns') },
      { to: '/reports', label: 'Reports and alerts', page: page(() => import('./pages/reports.tsx'), 'ReportsPage') },
      { to: '/clicks', label: 'Clicks', page: page(() => import('./pages/clicks.tsx'), 'Clicks') },
    ],
  },
  {
    title: 'Creators',
    links: [
      { to: '/directory', label: 'Directory', page: page(() => import('./pages/directory.tsx'), 'Directory') },
      { to: '/lists', label: 'Lists', page: page(() => import('./pages/lists.tsx'), 'Lists') },
      { to: '/roster', label: 'Roster', page: page(() => import('./pages/roster.tsx'), 'Roster') },
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
      { to: '/content', label: 'Content', page: page(() => import('./pages/content.tsx'), 'Content') },
      { to: '/assets', label: 'Content library', page: page(() => import('./pages/assets.tsx'), 'Assets') },
    ],
  },
  {
    title: 'Money',
    links: [
      { to: '/orders', label: 'Orders', page: page(() => import('./pages/orders.tsx'), 'Orders') },
      { to: '/commissions', label: 'Commissions', page: page(() => import('./pages/commissions.tsx'), 'Commissions') },
      { to: '/payouts', label: 'Payouts', page: page(() => import('./pages/payouts.tsx'), 'Payouts') },
      { to: '/statements', label: 'Statements', page: page(() => import('./pages/statements.tsx'), 'Statements') },
      { to: '/journal', label: 'Journal', page: page(() => import('./pages/journal.tsx'), 'Journal') },
      {
        to: '/reconciliation',
        label: 'Reconciliation',
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
      { to: '/webhooks', label: 'Webhooks', page: page(() => import('./pages/webhooks.tsx'), 'Webhooks') },
      { to: '/exports', label: 'Exports', page: page(() => import('./pages/exports.tsx'), 'Exports') },
      { to: '/keys', label: 'API keys', page: page(() => import('./pages/keys.tsx'), 'Keys') },
      { to: '/requests', label: 'API requests', page: page(() => import('./pages/requests.tsx'), 'Requests') },
      { to: '/agents', label: 'Agents', page: page(() => import('./pages/agents.tsx'), 'Agents') },
      { to: '/people', label: 'People', page: page(() => import('./pages/people.tsx'), 'People') },
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
  pastCommissions: page(() => import('./pages/past-commissions.tsx'), 'PastCommissions'),
};
