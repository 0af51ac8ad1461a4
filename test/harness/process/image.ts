import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

interface Line {
  word: string;
  rest: string;
}

interface Stage {
  root: string;
  workdir: string;
}

/** What the image would start, and where. */
export interface BuiltImage {
  /** The file system's root. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  command: string[];
}

function readLines(dockerfile: string): Line[] {
  const text = readFileSync(dockerfile, 'utf8')
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ');
  return text.split('\n').flatMap((line) => {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    return word === '' ? [] : [{ word, rest: rest.replace(/\s+/g, ' ') }];
  });
}

const PACKAGES = 'node_modules';

/** The names that a `.dockerignore` of `*`, exceptions and packages lets into the context. */
function readContext(file: string): Set<string> {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines.shift() !== '*' || lines.pop() !== `**/${PACKAGES}` || lines.some((line) => !line.startsWith('!'))) {
    throw new Error(`${file} is read as *, exceptions of it and all packages alone.`);
  }
  return new Set(lines.map((line) => line.slice(1)));
}

interface Copying {
  from: string;
  sources: readonly string[];
  target: string;
  takes: (file: string) => boolean;
}

/** As Docker copies: a folder's content into the folder that it is to be, files into a folder. */
function copy({ from, sources, target, takes }: Copying, isFolder: boolean): void {
  for (const source of sources) {
    const file = path.resolve(from, source);
    const isInto = isFolder && !statSync(file).isDirectory();
    cpSync(file, isInto ? path.join(target, path.basename(source)) : target, {
      recursive: true,
      verbatimSymlinks: true,
      filter: takes,
    });
  }
}

async function runShell(command: string, { root, workdir }: Stage): Promise<void> {
  // Absolute paths are below the stage's own root; files are another user's only where we may give them away.
  const own = command.replace(/(?<=\s)\/(?=\w)/g, `${root}/`);
  const given = process.getuid?.() === 0 ? '' : 'chown() { :; }; ';
  const node = path.dirname(process.execPath);
  const child = spawn('sh', ['-ec', given + own], {
    cwd: path.join(root, workdir),
    env: { PATH: `${node}:${process.env.PATH}`, HOME: process.env.HOME, npm_config_prefer_offline: 'true' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`RUN ${command} ended with ${code}:\n${said}`);
}

/** Builds what `docker build` would, in `folder`, on this machine's own Node. */
export async function buildImage(context: string, folder: string): Promise<BuiltImage> {
  const allowed = readContext(path.join(context, '.dockerignore'));
  const stages = new Map<string, Stage>();
  const image: BuiltImage = { root: '', workdir: '/', env: {}, user: '0', command: [] };
  let stage: Stage = { root: '', workdir: '/' };
  for (const { word, rest } of readLines(path.join(context, 'Dockerfile'))) {
    const words = rest.split(' ');
    switch (word) {
      case 'FROM': {
        stage = { root: path.join(folder, String(stages.size)), workdir: '/' };
        stages.set(words[2] ?? 'last', stage);
        Object.assign(image, { env: {}, user: '0', command: [] });
        break;
      }
      case 'WORKDIR':
        stage.workdir = rest;
        mkdirSync(path.join(stage.root, rest), { recursive: true });
        break;
      case 'COPY': {
        const from = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1];
        const [target = '', ...sources] = words.slice(from === undefined ? 0 : 1).reverse();
        const source = from === undefined ? context : stages.get(from)?.root;
        if (source === undefined) throw new Error(`COPY ${rest}: there is no such stage.`);
        const left = from === undefined ? sources.find((name) => !allowed.has(name)) : undefined;
        if (left !== undefined) throw new Error(`COPY ${rest}: .dockerignore leaves ${left} out.`);
        copy(
          {
            from: source,
            sources: sources.map((name) => (from === undefined ? name : `.${name}`)),
            target: path.resolve(stage.root, `.${stage.workdir}`, target),
            takes: (file) => from !== undefined || path.basename(file) !== PACKAGES,
          },
          target.endsWith('/'),
        );
        break;
      }
      case 'RUN':
        await runShell(rest, stage);
        break;
      case 'ENV':
        for (const pair of words) image.env[pair.split('=')[0] ?? ''] = pair.split('=')[1] ?? '';
        break;
      case 'USER':
        image.user = rest;
        break;
      case 'CMD':
        image.command = JSON.parse(rest);
        break;
      case 'LABEL':
      case 'EXPOSE':
      case 'HEALTHCHECK':
        break;
      default:
        throw new Error(`${word} is not a line that this reads.`);
    }
  }
  if (!existsSync(path.join(stage.root, stage.workdir))) throw new Error('The image has no working directory.');
  chmodSync(folder, 0o755);
  return { ...image, ...stage };
}
