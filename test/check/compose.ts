import { parse } from 'yaml';
import { z } from 'zod';

export const COMPOSE_FILES = ['docker-compose.yml', 'docker-compose.cluster.yml'] as const;

const Names = z.record(z.string(), z.unknown()).nullish();
/** A list of names, or a map under them; a list may also hold maps that name their `source`. */
const References = z
  .union([
    z.array(z.union([z.string(), z.looseObject({ source: z.string().optional(), type: z.string().optional() })])),
    z.record(z.string(), z.unknown()),
  ])
  .nullish();
type References = z.infer<typeof References>;

const Service = z.looseObject({
  image: z.string().nullish(),
  environment: z.record(z.string(), z.string()).nullish(),
  depends_on: References,
  networks: References,
  volumes: References,
  secrets: References,
  configs: References,
});
const Compose = z.looseObject({
  services: z.record(z.string(), Service),
  networks: Names,
  volumes: Names,
  secrets: Names,
  configs: z.record(z.string(), z.looseObject({ content: z.string().optional() })).nullish(),
});
type Compose = z.infer<typeof Compose>;

const Attached = z.looseObject({ aliases: z.array(z.string()).optional() }).nullish();

const read = (text: string) => Compose.safeParse(parse(text, { merge: true }));

const namesIn = (references: References): string[] =>
  Array.isArray(references)
    ? references.flatMap((one) => (typeof one === 'string' ? [one] : one.source === undefined ? [] : [one.source]))
    : Object.keys(references ?? {});

/** The named volumes among what is mounted: folders of the host start with a dot, a slash or a tilde. */
function volumesIn(references: References): string[] {
  if (!Array.isArray(references)) return [];
  return references.flatMap((one) => {
    if (typeof one !== 'string') return one.type === 'volume' && one.source !== undefined ? [one.source] : [];
    const [source, target] = one.split(':');
    return source && target && !/^[./~$]/.test(source) ? [source] : [];
  });
}

/** What the AWS SDK reads besides src/config.ts. */
const OF_AWS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];

/** Variables of Rollcall's own services that `src/config.ts` does not read. */
function unknownVariables({ services }: Compose, config: string): string[] {
  const known = new Set([...config.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name = '']) => name).concat(OF_AWS));
  const own = Object.entries(services).filter(([, { image }]) => image?.startsWith('rollcall:'));
  return own.flatMap(([name, { environment }]) =>
    Object.keys(environment ?? {})
      .filter((variable) => !known.has(variable))
      .map((variable) => `The service ${name} sets ${variable}, which src/config.ts does not read.`),
  );
}

/** Each host of a URL, or of a list of them, that is written into the file. */
function hostsIn(text: string): string[] {
  const fixed = text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '');
  const inUrls = [...fixed.matchAll(/(?:@|\/\/|,)([a-z][a-z0-9-]*):\d+/g)];
  const inXml = [...fixed.matchAll(/<host(?:name)?>([^<]+)</g)];
  const ofBalancer = [...fixed.matchAll(/^\s*server(?:-template)? .* ([a-z][\w-]*):\d+$/gm)];
  return [...inUrls, ...inXml, ...ofBalancer].map(([, host = '']) => host);
}

/** Hosts in URLs and configurations that are neither a service nor an alias of one. */
function unknownHosts({ services, configs }: Compose): string[] {
  const aliases = Object.values(services).flatMap(({ networks }) =>
    Array.isArray(networks) ? [] : Object.values(networks ?? {}).flatMap((one) => Attached.parse(one)?.aliases ?? []),
  );
  const known = new Set([...Object.keys(services), ...aliases]);
  const texts = [
    ...Object.values(services).flatMap(({ environment }) => Object.values(environment ?? {})),
    ...Object.values(configs ?? {}).flatMap(({ content }) => content ?? []),
  ];
  return [...new Set(texts.flatMap(hostsIn))]
    .filter((host) => !known.has(host))
    .map((host) => `The host ${host} is no service.`);
}

/** What a compose file refers to that does not exist; its shape is for the linter. */
export function problemsOfCompose(text: string, config: string): string[] {
  const parsed = read(text);
  if (!parsed.success) return [z.prettifyError(parsed.error)];
  const { services, networks, volumes, secrets, configs } = parsed.data;
  const unknown = [...unknownVariables(parsed.data, config), ...unknownHosts(parsed.data)];
  const dangling = Object.entries(services).flatMap(([name, service]) => {
    const missing = (kind: string, references: string[], declared: z.infer<typeof Names>) =>
      references
        .filter((reference) => !Object.hasOwn(declared ?? {}, reference))
        .map((reference) => `The service ${name} refers to the ${kind} ${reference}, which there is none of.`);
    return [
      ...missing('service', namesIn(service.depends_on), services),
      // Every project has a network of this name.
      ...missing('network', namesIn(service.networks), { default: null, ...networks }),
      ...missing('volume', volumesIn(service.volumes), volumes),
      ...missing('secret', namesIn(service.secrets), secrets),
      ...missing('config', namesIn(service.configs), configs),
    ];
  });
  return [...dangling, ...unknown];
}

/** Images without a version, and those of which two files run different versions. */
export function problemsOfVersions(files: readonly string[]): string[] {
  const images = files.flatMap((text) => {
    const { data } = read(text);
    return Object.values(data?.services ?? {}).flatMap(({ image }) => image ?? []);
  });
  const versions = new Map<string, Set<string>>();
  for (const image of images) {
    const [, name = image, version = ''] = /^([^:]+):(.+)$/.exec(image) ?? [];
    versions.set(name, (versions.get(name) ?? new Set()).add(version));
  }
  return [...versions].flatMap(([name, found]) => {
    if (found.has('') || found.has('latest')) return [`The image ${name} has no version.`];
    return found.size > 1 ? [`The image ${name} has several versions: ${[...found].join(', ')}.`] : [];
  });
}
