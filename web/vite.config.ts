import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { operationsPlugin } from './operations-plugin.ts';

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  plugins: [react(), operationsPlugin()],
  // Everything is a file of its own under our strict content security policy.
  build: { modulePreload: { polyfill: false }, assetsInlineLimit: 0, target: 'es2024', emptyOutDir: true },
});
