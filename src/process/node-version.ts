/** The TypeScript sources run as they are, which needs a Node that strips types. */
export function assertNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return;
  process.stderr.write(
    `Rollcall needs Node 22.19 or newer; this is ${process.versions.node}. ` +
      'Start it with npm (`npm start`), which uses the Node that `npm ci` installed.\n',
  );
  process.exit(1);
}
