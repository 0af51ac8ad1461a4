/** A file in a form. Its bytes can be read once, before the next part. */
export interface FilePart {
  field: string;
  filename: string;
  /** The media type that the sender declares; empty if it declares none. */
  mimeType: string;
  bytes: AsyncIterable<Buffer>;
}

/** A part of a `multipart/form-data` body. */
export type FormPart = FilePart | { field: string; value: string };
