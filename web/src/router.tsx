import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent } from '@tanstack/react-router';
import { Failure, Loading, PageHead } from './kit/parts.tsx';
import { ITEM_PAGES, PAGES } from './navigation.ts';
import { Shell } from './shell.tsx';

const root = createRootRoute({
  // Each page reads its own filters from the query.
  validateSearch: (search: Record<string, unknown>): Record<string, unknown> => search,
});
const inside = createRoute({ getParentRoute: () => root, id: 'inside', component: Shell });
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignIn'),
});

const pages = PAGES.map(({ to, page }) => createRoute({ getParentRoute: () => inside, path: to, component: page }));

const creator = createRoute({ getParentRoute: () => inside, path: '/creators/$id', component: ITEM_PAGES.creator });
const campaign = createRoute({ getParentRoute: () => inside, path: '/campaigns/$id', component: ITEM_PAGES.campaign });
const contract = createRoute({ getParentRoute: () => inside, path: '/contracts/$id', component: ITEM_PAGES.contract });
const pastCommissions = createRoute({
  getParentRoute: () => inside,
  path: '/commissions/past',
  component: ITEM_PAGES.pastCommissions,
});
const openItems = createRoute({
  getParentRoute: () => inside,
  path: '/payouts/open-items',
  component: ITEM_PAGES.openItems,
});

const newImport = createRoute({ getParentRoute: () => inside, path: '/imports/new', component: ITEM_PAGES.newImport });
const oneImport = createRoute({ getParentRoute: () => inside, path: '/imports/$id', component: ITEM_PAGES.import });

const noSuchPage = createRoute({
  getParentRoute: () => inside,
  path: '$',
  component: () => (
    <PageHead title="No such page" hint="It may have moved. Choose another from the menu.">
      <Link className="button primary" to="/">
        Go to Home
      </Link>
    </PageHead>
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    inside.addChildren([
      ...pages,
      creator,
      campaign,
      contract,
      pastCommissions,
      openItems,
      newImport,
      oneImport,
      noSuchPage,
    ]),
  ]),
  basepath: '/app',
  scrollRestoration: true,
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error }) => (
    <Failure error={error instanceof Error ? error : new Error('This page did not load.')} />
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
