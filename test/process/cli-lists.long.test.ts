import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../harness/process/command.ts';

describe('the command line', () => {
  it('prints the release of every program', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const script of ['src/cli.ts', 'src/server.ts', 'src/worker.ts', 'indexer/main.ts']) {
      const { status, out } = await runCommand(script, ['--version'], { ROLLCALL_DIR: '/dev/null/none' });
      expect([script, status, out]).toEqual([script, 0, `${version}\n`]);
    }
  });

  it('says in one line which Node version it needs when an older one runs it', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const older = "data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })";
    for (const name of ['start', 'cli', 'indexer']) {
      const [, rest = ''] = / node (.*)$/.exec(` ${scripts[name]}`) ?? [];
      const { status, stderr } = spawnSync(process.execPath, ['--import', older, ...rest.split(' ')], {
        encoding: 'utf8',
      });
      expect([name, status]).toEqual([name, 1]);
      expect(stderr).toMatch(/^Rollcall needs Node 22\.19 or newer; this is 20\.20\.2\. .*npm ci.*\n$/);
    }
  });
});
