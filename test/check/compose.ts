import { parse } from 'yaml';
import { z } from 'zod';

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
  configs: Names,
});

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

/** What a compose file's services refer to that it does not have; its shape is for the linter. */
export function problemsOfCompose(text: string): string[] {
  const parsed = Compose.safeParse(parse(text, { merge: true }));
  if (!parsed.success) return [z.prettifyError(parsed.error)];
  const { services, networks, volumes, secrets, configs } = parsed.data;
  return Object.entries(services).flatMap(([name, service]) => {
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
}
