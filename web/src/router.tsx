import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Failure, Loading, PageHead } from './kit/parts.tsx';
import { Shell } from './shell.tsx';

const root = createRootRoute({
  // Each page reads its own filters of it.
  validateSearch: (search: Record<string, unknown>): Record<string, unknown> => search,
});
const inside = createRoute({ getParentRoute: () => root, id: 'inside', component: Shell });
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignIn'),
});

type Component = ReturnType<typeof lazyRouteComponent>;
const at = <const Path extends string>(path: Path, component: Component) =>
  createRoute({ getParentRoute: () => inside, path, component });
const lazy = lazyRouteComponent;

const pages = [
  at(
    '/conversations',
    lazy(() => import('./pages/conversations.tsx'), 'Conversations'),
  ),
  at(
    '/disputes',
    lazy(() => import('./pages/disputes.tsx'), 'Disputes'),
  ),
  at(
    '/briefs',
    lazy(() => import('./pages/briefs.tsx'), 'Briefs'),
  ),
  at(
    '/contracts',
    lazy(() => import('./pages/contracts.tsx'), 'Contracts'),
  ),
  at(
    '/agents',
    lazy(() => import('./pages/agents.tsx'), 'Agents'),
  ),
  at(
    '/',
    lazy(() => import('./pages/home.tsx'), 'Home'),
  ),
  at(
    '/figures',
    lazy(() => import('./pages/figures.tsx'), 'Figures'),
  ),
  at(
    '/directory',
    lazy(() => import('./pages/directory.tsx'), 'Directory'),
  ),
  at(
    '/roster',
    lazy(() => import('./pages/roster.tsx'), 'Roster'),
  ),
  at(
    '/campaigns',
    lazy(() => import('./pages/campaigns.tsx'), 'Campaigns'),
  ),
  at(
    '/applications',
    lazy(() => import('./pages/applications.tsx'), 'Applications'),
  ),
  at(
    '/deliverables',
    lazy(() => import('./pages/deliverables.tsx'), 'Deliverables'),
  ),
  at(
    '/shipments',
    lazy(() => import('./pages/shipments.tsx'), 'Shipments'),
  ),
  at(
    '/content',
    lazy(() => import('./pages/content.tsx'), 'Content'),
  ),
  at(
    '/assets',
    lazy(() => import('./pages/assets.tsx'), 'Assets'),
  ),
  at(
    '/webhooks',
    lazy(() => import('./pages/webhooks.tsx'), 'Webhooks'),
  ),
  at(
    '/commissions',
    lazy(() => import('./pages/commissions.tsx'), 'Commissions'),
  ),
  at(
    '/payouts',
    lazy(() => import('./pages/payouts.tsx'), 'Payouts'),
  ),
  at(
    '/statements',
    lazy(() => import('./pages/statements.tsx'), 'Statements'),
  ),
  at(
    '/links',
    lazy(() => import('./pages/links.tsx'), 'Links'),
  ),
  at(
    '/stores',
    lazy(() => import('./pages/stores.tsx'), 'Stores'),
  ),
  at(
    '/keys',
    lazy(() => import('./pages/keys.tsx'), 'Keys'),
  ),
  at(
    '/people',
    lazy(() => import('./pages/people.tsx'), 'People'),
  ),
  at(
    '/audit',
    lazy(() => import('./pages/audit.tsx'), 'Audit'),
  ),
  at(
    '/settings',
    lazy(() => import('./pages/settings.tsx'), 'Settings'),
  ),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([signIn, inside.addChildren(pages)]),
  basepath: '/app',
  scrollRestoration: true,
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error }) => (
    <Failure error={error instanceof Error ? error : new Error('This page did not load.')} />
  ),
  defaultNotFoundComponent: () => <PageHead title="No such page" hint="Choose one from the menu." />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
