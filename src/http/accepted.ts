import Negotiator from 'negotiator';

/** `charset` and the like: a form is the same with and without them. */
const PARAMETERS = /;(?!\s*q\s*=)[^;,]*/gi;

/** The media type that the caller wants most of those offered; undefined when it takes none. Without a header, the first. */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly Type[],
): Type | undefined {
  const header = accept?.replace(PARAMETERS, '').trim() || '*/*';
  const chosen = new Negotiator({ headers: { accept: header } }).mediaType(offered);
  return offered.find((type) => type === chosen);
}

export function prefersGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  return negotiator.encoding(['gzip', 'identity']) === 'gzip';
}
