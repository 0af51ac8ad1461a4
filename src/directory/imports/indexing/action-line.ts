/** The line of a bulk request before a document: versions only rise, so that a late request changes nothing. */
export const actionLine = (action: 'index' | 'delete', pk: number, version: number): string =>
  `{"${action}":{"_id":"${pk}","version":${version},"version_type":"external_gte"}}\n`;
