import Negotiator from 'negotiator';

/** Parameters such as `charset`, which do not change the media type. */
const PARAMETERS = /;(?!\s*q\s*=)[^;,]*/gi;

/** The offered media type that the caller prefers; undefined if it accepts none. Without an Accept header, the first. */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly Type[],
): Type | undefined {
  const header = accept?.replace(PARAMETERS, '').trim() || '*/*';
  const bestType = new Negotiator({ headers: { accept: header } }).mediaType(offered);
  return offered.find((type) => type === bestType);
}

export function prefersGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  return negotiator.encoding(['gzip', 'identity']) === 'gzip';
}
