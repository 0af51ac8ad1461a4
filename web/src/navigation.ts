/** The pages, in the order that a brand works. */
export const NAVIGATION = [
  {
    title: '',
    links: [
      { to: '/', label: 'Home' },
      { to: '/figures', label: 'Figures' },
    ],
  },
  {
    title: 'Creators',
    links: [
      { to: '/directory', label: 'Directory' },
      { to: '/roster', label: 'Roster' },
      { to: '/campaigns', label: 'Campaigns' },
      { to: '/applications', label: 'Applications' },
    ],
  },
  {
    title: 'Work',
    links: [
      { to: '/conversations', label: 'Conversations' },
      { to: '/briefs', label: 'Briefs' },
      { to: '/contracts', label: 'Contracts' },
      { to: '/deliverables', label: 'Deliverables' },
      { to: '/shipments', label: 'Shipments' },
      { to: '/content', label: 'Content' },
      { to: '/assets', label: 'Content library' },
    ],
  },
  {
    title: 'Money',
    links: [
      { to: '/commissions', label: 'Commissions' },
      { to: '/payouts', label: 'Payouts' },
      { to: '/statements', label: 'Statements' },
      { to: '/disputes', label: 'Disputes' },
      { to: '/links', label: 'Links and codes' },
    ],
  },
  {
    title: 'Set up',
    links: [
      { to: '/stores', label: 'Stores' },
      { to: '/webhooks', label: 'Webhooks' },
      { to: '/keys', label: 'API keys' },
      { to: '/agents', label: 'Agents' },
      { to: '/people', label: 'People' },
      { to: '/audit', label: 'Audit log' },
      { to: '/settings', label: 'Settings' },
    ],
  },
] as const;
