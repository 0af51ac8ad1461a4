import { type Form, parseForm } from '../../../kit/html/form.ts';
import type { FilePart } from '../../../kit/operation/upload.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { cleanFileName, receiveFile, releaseFile, type StoredFile } from '../../../workflow/assets/uploads.ts';
import type { DeliverableFacts } from '../../../workflow/deliverables/deliverables.ts';
import type { PageVisit } from '../declare.ts';

export const MAX_FILES = 5;

/** A posted form. Its files are in the storage without an owner, until they are taken or released. */
export interface Posted {
  form: Form;
  files: StoredFile[];
  /** Why one of the files was refused. */
  fileProblem: string | undefined;
}

type WorkVisit = PageVisit<DeliverableFacts>;

async function drain({ bytes }: FilePart): Promise<void> {
  for await (const _ of bytes);
}

/** Names the file, because a form may have several. */
function findProblem(error: unknown, { filename }: FilePart): string {
  if (error instanceof ApiError && error.status === 422)
    return `${cleanFileName(filename)} ${error.details?.[0]?.message ?? ''}`;
  throw error;
}

/** Reads a form with its files as a stream. Browsers send an empty file field without a name. */
export async function receivePost({ context, row, parts }: WorkVisit): Promise<Posted> {
  const fields: [string, string][] = [];
  const files: StoredFile[] = [];
  let fileProblem: string | undefined;
  try {
    for await (const part of parts()) {
      if ('value' in part) fields.push([part.field, part.value]);
      else if (part.filename === '' || fileProblem !== undefined) await drain(part);
      else {
        const receivedFile = await receiveFile(context, row.brandId, part).catch((error: unknown) =>
          findProblem(error, part),
        );
        if (typeof receivedFile === 'string') fileProblem = receivedFile;
        else files.push(receivedFile);
      }
    }
  } catch (error) {
    await releaseAll(context, files);
    throw error;
  }
  return { form: parseForm(fields), files, fileProblem };
}

/** Files that a deliverable took stay. */
export async function releaseAll(context: WorkVisit['context'], files: readonly StoredFile[]): Promise<void> {
  for (const file of files) await releaseFile(context, file);
}
