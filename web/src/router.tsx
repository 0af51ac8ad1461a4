import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Failure, Loading, PageHead } from './kit/parts.tsx';
import { NAVIGATION } from './navigation.ts';
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

const pages = NAVIGATION.flatMap(({ links }) =>
  links.map(({ to, page }) => createRoute({ getParentRoute: () => inside, path: to, component: page })),
);

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
