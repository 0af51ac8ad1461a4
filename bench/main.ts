/** Each bench is a separate program, which reads the arguments after its name. */
const BENCHES: Readonly<Record<string, () => Promise<unknown>>> = {
  directory: () => import('./directory.ts'),
  attribution: () => import('./attribution.ts'),
  webhooks: () => import('./webhooks.ts'),
  tenants: () => import('./tenants.ts'),
  overload: () => import('./overload.ts'),
};

const [name = ''] = process.argv.splice(2, 1);
const run = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
if (!run) {
  process.stderr.write(`Name a bench, as in \`npm run bench -- ${Object.keys(BENCHES).join('|')}\`.\n`);
  process.exit(2);
}
await run();
