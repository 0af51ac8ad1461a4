import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { CallError } from './call/call.ts';
import { sentAgain } from './call/use.ts';
import { Toasts } from './kit/toast.tsx';
import { router } from './router.tsx';
import { leave } from './signed-out.ts';
import { applyTheme } from './theme.ts';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import './style/table.css';
import './style/gallery.css';
import './style/popup.css';
import './style/directory.css';
import './style/inbox.css';

applyTheme();

const cache = new QueryClient({
  // Reads can be repeated without loss; a form keeps its values and says that they were not saved.
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof CallError && error.status === 401) leave();
    },
  }),
  defaultOptions: {
    // Without a connection, changes fail at once instead of being queued for later.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      // Refused calls are not retried, except those over the limit of a minute; calls without an answer are.
      refetchInterval: sentAgain(),
      retry: (count, error) => count < 2 && error instanceof CallError && [0, 503].includes(error.status),
    },
  },
});

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={cache}>
          <Toasts>
            <RouterProvider router={router} />
          </Toasts>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
