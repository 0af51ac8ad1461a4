import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  // build.ts writes it from the committed document.
  input: '../../.rollcall/clients/openapi-typescript.json',
  output: { path: 'src/generated', clean: true },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
});
