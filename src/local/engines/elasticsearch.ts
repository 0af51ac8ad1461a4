import { existsSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from './command.ts';
import type { Engine, Seat } from './engine.ts';
import { copyForEngine, makeEngineFolder, writeForEngine } from './folder.ts';
import { moveFolder, verifyFolder } from './install.ts';
import type { Java } from './java.mjs';
import { ELASTICSEARCH_FOLDER, FETCHED_EARLY, mavenCommand, removeLeftovers } from './maven.mjs';

/** Covers every file, as Maven unpacks them from SonarQube's distribution. */
const SHA256 = 'f206a97a5e663e4011b306dabce66e347838963de7894fc4fce0361ed18488ad';

async function fetchElasticsearch(into: string, java: Java | undefined): Promise<void> {
  if (existsSync(FETCHED_EARLY)) await moveFolder(FETCHED_EARLY, into);
  else await runCommand(...mavenCommand(into, java));
  await removeLeftovers(into);
  await verifyFolder(into, SHA256);
}

/** Not the production settings: a setting of a module that this distribution lacks stops the node. */
function settings(data: string): string {
  return `cluster.name: rollcall
node.name: embedded
discovery.type: single-node
network.host: 127.0.0.1
path.data: ${data}/data
path.logs: ${data}/logs
xpack.security.enabled: false
cluster.routing.allocation.disk.threshold_enabled: false
# Otherwise a task contacts an outside host.
xpack.inference.elastic.authorization.enabled: false
`;
}

/**
 * From this size on, the distribution's own collector is used, which keeps the heap free during work. With a smaller
 * heap it would cost 300 MB more.
 */
const LARGE_HEAP_MB = 1_024;

/** The serial collector lets garbage fill the heap, which the real-memory breaker would treat as an emergency. */
const breaker = (heapMb: number) => `indices.breaker.total.use_real_memory: ${heapMb >= LARGE_HEAP_MB}\n`;

const collector = (heapMb: number) =>
  heapMb >= LARGE_HEAP_MB
    ? '-XX:+UseG1GC\n-XX:G1ReservePercent=25\n-XX:InitiatingHeapOccupancyPercent=30'
    : '-XX:+UseSerialGC';

/**
 * The JVM optimizes what ran five times as often as its defaults ask for: a start compiles thousands of methods that
 * hardly run again. On two cores a start takes 11 s instead of 14, and the first minutes of searches are a quarter faster.
 */
const COMPILER = [
  '-XX:Tier4InvocationThreshold=25000',
  '-XX:Tier4MinInvocationThreshold=3000',
  '-XX:Tier4CompileThreshold=75000',
  '-XX:Tier4BackEdgeThreshold=200000',
].join('\n');

/** Uses 480 MB with a heap of 512 MB; the distribution's own options use 800 MB. Start-up differs by half a second. */
function jvmOptions(data: string, heapMb: number): string {
  return `-Xms${heapMb}m
-Xmx${heapMb}m
-XX:-AlwaysPreTouch
${collector(heapMb)}
${COMPILER}
-Djava.io.tmpdir=${data}/tmp
--add-modules=jdk.incubator.vector
-Dorg.apache.lucene.store.defaultReadAdvice=normal
-Dorg.apache.lucene.store.MMapDirectory.sharedArenaMaxPermits=1
-XX:+ExitOnOutOfMemoryError
-XX:ErrorFile=${data}/logs/hs_err.log
`;
}

const LOGGING = `status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
`;

async function prepare({ home, data, heapMb, port }: Seat): Promise<void> {
  for (const folder of ['config', 'config/jvm.options.d', 'data', 'logs', 'tmp']) {
    makeEngineFolder(path.join(data, folder));
  }
  const config = path.join(data, 'config');
  for (const name of ['users', 'users_roles', 'roles.yml', 'role_mapping.yml']) {
    const source = path.join(home, 'config', name);
    if (existsSync(source)) copyForEngine(source, path.join(config, name));
  }
  // A single node needs no fixed transport port; a range lets several stacks run side by side.
  writeForEngine(path.join(config, 'elasticsearch.yml'), `${settings(data)}${breaker(heapMb)}http.port: ${port}\n`);
  writeForEngine(path.join(config, 'jvm.options'), jvmOptions(data, heapMb));
  writeForEngine(path.join(config, 'log4j2.properties'), LOGGING);
}

/** Elasticsearch's own launcher, with a small JVM that starts the server; another small one prepares its options. */
const LAUNCHER = ['-Xms4m', '-Xmx64m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

async function isReady(port: number): Promise<boolean> {
  // Yellow: every primary shard from the last run is searchable again.
  const url = `http://127.0.0.1:${port}/_cluster/health?wait_for_status=yellow&timeout=1s`;
  return (await fetch(url, { signal: AbortSignal.timeout(3_000) })).ok;
}

export const elasticsearch: Engine = {
  title: 'Elasticsearch',
  variable: 'ELASTICSEARCH_URL',
  installation: {
    folder: ELASTICSEARCH_FOLDER,
    get size() {
      return existsSync(FETCHED_EARLY) ? '198 MB, downloaded before' : '946 MB once, 198 MB kept';
    },
    fetch: fetchElasticsearch,
  },
  prepare,
  program: ({ home, data, java }) => {
    if (!java) throw new Error('Elasticsearch needs a JDK.');
    const command = path.join(java.home, 'bin/java');
    const launcher = ['-cp', path.join(home, 'lib/tools/server-launcher/*')];
    return {
      command,
      args: [...LAUNCHER, ...launcher, 'org.elasticsearch.server.launcher.ServerLauncher'],
      // It looks for its modules relative to this folder.
      cwd: home,
      env: {
        HOME: data,
        // Without a locale, Java cannot open a path that is not ASCII.
        LC_ALL: 'C.UTF-8',
        JAVA: command,
        ES_HOME: home,
        ES_PATH_CONF: path.join(data, 'config'),
        ES_JAVA_HOME: java.home,
        ...(java.options ? { ES_JAVA_OPTS: java.options } : {}),
        ES_TMPDIR: path.join(data, 'tmp'),
        CLI_NAME: 'server',
        CLI_JAVA_OPTS: LAUNCHER.join(' '),
        ES_DISTRIBUTION_TYPE: 'tar',
        JAVA_TYPE: 'bundled',
      },
      deathSignal: 'TERM',
    };
  },
  // Its threads take all cores while many searches wait, and the API would neither refuse the rest nor take orders in time.
  givesWay: true,
  url: ({ port }) => `http://127.0.0.1:${port}`,
  isReady,
  // A busy machine takes minutes, and ending it would only begin the work again.
  readyWithinMs: 300_000,
  stopSignal: 'SIGTERM',
  dataStillLocked: /failed to obtain node locks|is another node using/i,
};
