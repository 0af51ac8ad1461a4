import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { CHILD_ENV } from '../harness/process/child.ts';

/** A process that ends two things, of which the one that is registered first is ended last. */
async function stopProcess(body: string) {
  const text = `import { openShutdown } from './src/process/shutdown.ts';
    import { setTimeout as pause } from 'node:timers/promises';
    const shutdown = openShutdown(200);
    const beat = setInterval(() => undefined, 1_000);
    ${body}
    shutdown.started();
    console.log('started');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], { env: CHILD_ENV });
  let [out, err] = ['', ''];
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk) => {
    out += chunk;
    if (String(chunk).includes('started')) child.kill('SIGINT');
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, out: out.trim().split('\n'), err };
}

it('A process whose work does not end in time still waits for its engines, so that no copy of their folder is torn', async () => {
  const { code, out, err } = await stopProcess(`
    shutdown.addBounded(async () => { await pause(600); console.log('engines ended'); });
    shutdown.add(() => new Promise(() => undefined));`);
  expect([code, out]).toEqual([1, ['started', 'engines ended']]);
  expect(err).toContain('Not everything ended within 0.2 s');
});

it('Engines that take longer than the work may are no failure', async () => {
  const { code, out } = await stopProcess(`
    shutdown.addBounded(async () => { await pause(600); console.log('engines ended'); clearInterval(beat); });
    shutdown.add(async () => undefined);`);
  expect([code, out]).toEqual([0, ['started', 'engines ended']]);
});
