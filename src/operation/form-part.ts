/** A file of a form, as it arrives: its bytes are read once, before the form's next part. */
export interface FilePart {
  field: string;
  filename: string;
  /** As the sender names it; empty when it does not. */
  mimeType: string;
  bytes: AsyncIterable<Buffer>;
}

/** A form as `multipart/form-data` has it, part by part. */
export type FormPart = FilePart | { field: string; value: string };
