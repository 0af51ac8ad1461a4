import { lazyRouteComponent as page } from '@tanstack/react-router';

/** Every page, in the order of a brand's work; the menu and the routes are generated from this. */
export const NAVIGATION = [
  {
    title: '',
    links: [
      { to: '/', label: 'Home', page: page(() => import('./pages/home.tsx'), 'Home') },
      { to: '/analytics', label: 'Analytics', page: page(() => import('./pages/analytics.tsx'), 'Analytics') },
    ],
  },
  {
    title: 'Creators',
    links: [
      { to: '/directory', label: 'Directory', page: page(() => import('./pages/directory.tsx'), 'Directory') },
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
      { to: '/commissions', label: 'Commissions', page: page(() => import('./pages/commissions.tsx'), 'Commissions') },
      { to: '/payouts', label: 'Payouts', page: page(() => import('./pages/payouts.tsx'), 'Payouts') },
      { to: '/statements', label: 'Statements', page: page(() => import('./pages/statements.tsx'), 'Statements') },
      { to: '/disputes', label: 'Disputes', page: page(() => import('./pages/disputes.tsx'), 'Disputes') },
      { to: '/links', label: 'Links and codes', page: page(() => import('./pages/links.tsx'), 'Links') },
    ],
  },
  {
    title: 'Setup',
    links: [
      { to: '/stores', label: 'Stores', page: page(() => import('./pages/stores.tsx'), 'Stores') },
      { to: '/webhooks', label: 'Webhooks', page: page(() => import('./pages/webhooks.tsx'), 'Webhooks') },
      { to: '/keys', label: 'API keys', page: page(() => import('./pages/keys.tsx'), 'Keys') },
      { to: '/agents', label: 'Agents', page: page(() => import('./pages/agents.tsx'), 'Agents') },
      { to: '/people', label: 'People', page: page(() => import('./pages/people.tsx'), 'People') },
      { to: '/audit', label: 'Audit log', page: page(() => import('./pages/audit.tsx'), 'Audit') },
      { to: '/settings', label: 'Settings', page: page(() => import('./pages/settings.tsx'), 'Settings') },
    ],
  },
] as const;
