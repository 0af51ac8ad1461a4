import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: '../../test/check/openapi.json',
  output: { path: 'src/generated', clean: true },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
});
