import { drainClicks } from '../src/interfaces/links-host/jobs.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { exitOf, type Server, startNode, startServer } from './children.ts';
import { alternate, median, medianRatio, percentile } from './load.ts';
import { makeLinks } from './make-links.ts';
import { type Add, progress, type Ratio, round } from './report.ts';

/** What the measurements of clicks need: engines, and the API as one process on them, without a worker. */
export interface ClickSession {
  env: Record<string, string>;
  context: Context;
  api: Server;
  rounds: number;
  /** How long one side receives clicks in a round. */
  clickMs: number;
}

const LINKS = 200;
/** The links host keeps getting faster for about this long; a bare redirect is optimized sooner. */
const WARM_UP_MS = 5_000;
/** The number of load generators: a single one would be the bottleneck. */
const GENERATORS = 2;
const FLOORS = [
  { connections: 256, floor: 0.7 },
  { connections: 64, floor: 0.65 },
];

export interface Clicked {
  perSecond: number;
  latenciesMs: number[];
}

interface Said {
  answered: number;
  refused: number;
  seconds: number;
  latenciesMs: number[];
}

/** What one load generator measured. */
async function generator(env: Record<string, string>, args: readonly number[]): Promise<Said> {
  const child = startNode(['bench/load-generator.ts', ...args.map(String)], env);
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  child.stderr?.pipe(process.stderr);
  const code = await exitOf(child);
  if (code !== 0) throw new Error(`The load generator ended with ${code}.`);
  return JSON.parse(said);
}

/** Clicks on the links at this address over this many connections. Every response must be a redirect. */
export async function clickOn(
  { env }: Pick<ClickSession, 'env'>,
  url: string,
  connections: number,
  forMs: number,
): Promise<Clicked> {
  const port = Number(new URL(url).port);
  const each = connections / GENERATORS;
  const said = await Promise.all(
    Array.from({ length: GENERATORS }, (_, number) => generator(env, [port, each, forMs, LINKS, number])),
  );
  const refused = said.reduce((sum, one) => sum + one.refused, 0);
  if (refused > 0) throw new Error(`${refused} clicks were not redirected.`);
  return {
    perSecond: said.reduce((sum, { answered, seconds }) => sum + answered / seconds, 0),
    latenciesMs: said.flatMap(({ latenciesMs }) => latenciesMs),
  };
}

async function lostClicks(server: Server): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^rollcall_clicks_lost_total (\d+)$/m.exec(text)?.[1]);
}

/** Creates the links for the API; once per session. */
export async function prepareClicks({ context }: ClickSession): Promise<void> {
  await makeLinks(context, LINKS);
}

const rates = (side: Clicked[]) => side.map(({ perSecond }) => perSecond);

function ratioOf(connections: number, floor: number, ours: Clicked[], bare: Clicked[]): Ratio {
  const late = (percent: number) =>
    round(
      percentile(
        ours.flatMap(({ latenciesMs }) => latenciesMs),
        percent,
      ),
    );
  return {
    name: `redirects_to_durable_bare_${connections}`,
    value: medianRatio(rates(ours), rates(bare)),
    floor,
    bound: 'at least',
    measured: `${round(median(rates(ours)))} and ${round(median(rates(bare)))} redirects/s, p50 ${late(50)} ms, p99 ${late(99)} ms`,
    warm: 'links and user agents in the process; half of the visitors have a cookie',
  };
}

/**
 * Redirects per second of the links host against a Fastify that only redirects; each click is durable before its
 * response.
 */
export async function measureRedirects(session: ClickSession, add: Add): Promise<void> {
  const { env, context, api, rounds, clickMs } = session;
  const bare = await startServer((port) => ['bench/bare-redirect.ts', String(LINKS), String(port)], env);
  try {
    for (const { connections, floor } of FLOORS) {
      progress(`Clicking over ${connections} connections`);
      const side = (url: string, forMs: number) => async () => {
        // Undrained clicks would slow Redis down; normally a worker drains them.
        await drainClicks(context);
        return await clickOn(session, url, connections, forMs);
      };
      const sides = (forMs: number) => [api.links, bare.url].map((url) => side(url, forMs));
      await alternate(1, sides(WARM_UP_MS));
      const [ours = [], theirs = []] = await alternate(rounds, sides(clickMs));
      add(ratioOf(connections, floor, ours, theirs));
    }
    const lost = await lostClicks(api);
    if (lost > 0) throw new Error(`${lost} clicks were not recorded.`);
  } finally {
    await bare.stop();
  }
}
