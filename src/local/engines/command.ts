import { spawn } from 'node:child_process';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { dyingWithParent } from './process.ts';

export interface CommandOptions {
  cwd?: string;
  env?: Record<string, string>;
  user?: { uid: number; gid: number } | undefined;
  input?: string;
}

/** Runs a command to its end and returns its output; a failure is an error with the end of that output. */
export function runCommand(command: string, args: string[], options: CommandOptions = {}): Promise<string> {
  const wrappedCommand = dyingWithParent(command, args, 'TERM', options.user);
  const { cwd, env, input } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(wrappedCommand.command, wrappedCommand.args, {
      ...(cwd ? { cwd } : {}),
      ...(env ? { env } : {}),
      ...('uid' in wrappedCommand ? { uid: wrappedCommand.uid, gid: wrappedCommand.gid } : {}),
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString('utf8');
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ended with ${signal ?? `exit code ${code}`}:\n${output.slice(-2000).trim()}`));
    });
    child.stdin?.on(
      'error',
      ignoreFailure('a command that exits before it reads its input reports that by its exit code'),
    );
    child.stdin?.end(input);
  });
}
