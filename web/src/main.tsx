import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { CallError } from './call/call.ts';
import { Toasts } from './kit/toast.tsx';
import { router } from './router.tsx';
import { leave } from './signed-out.ts';
import { applyTheme } from './theme.ts';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import './style/table.css';
import './style/popup.css';

applyTheme();

const cache = new QueryClient({
  // What only reads loses nothing by it; what was filled in stays, and says that it was not taken.
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof CallError && error.status === 401) leave();
    },
  }),
  defaultOptions: {
    // Without a connection nothing waits unseen to be sent later.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      // What was refused is refused again; only silence is worth another try.
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
