import type { z } from 'zod';
import { ApiError, type Problem, validationError } from '../values/errors.ts';
import type { Context } from './context.ts';
import { assertKeyForm, findReplay, runOnce } from './idempotency.ts';
import { readInput } from './input.ts';
import { placeDays } from './local-days.ts';
import { type Call, DEFAULTS, type Facts, type Operation, serialize, type Typed } from './operation.ts';
import { takeMode } from './plans.ts';
import type { Work } from './work.ts';

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

/** A file in the storage that no row references yet. */
interface Received {
  sha256: string;
}

interface UploadDeclaration<
  I extends string,
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodObject,
  R extends z.ZodType,
  F extends Received,
  T,
> extends Facts<I, P, Q, B, R> {
  /** Writes the form's file to the storage, before the transaction opens. */
  receive: (context: Context, brandId: string, part: FilePart) => Promise<F>;
  /** Removes a file that no change used. */
  release: (context: Context, file: F) => Promise<void>;
  apply: (work: Work, call: Call<z.output<P>, z.output<Q>, z.output<B>>, file: F) => Promise<T>;
  answer: (context: Context, made: T) => z.input<R>;
  /** Takes the place of the file in a call with a JSON body. Without it, a form is required. */
  withoutFile?: (context: Context, call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<F>;
  /** The largest file; by default that of assets. */
  maxFileBytes?: number;
}

interface ReadForm<F> {
  fields: Map<string, string | string[]>;
  file: F | undefined;
}

const FILE = 'file';
const problem = (code: string, message: string): Problem => ({ field: FILE, code, message });

/** Reads a whole form into `form`, which also holds what was read before an error. */
async function readForm<F>(
  parts: AsyncIterable<FormPart>,
  receive: (part: FilePart) => Promise<F>,
  form: ReadForm<F>,
): Promise<void> {
  for await (const part of parts) {
    const { field } = part;
    if ('value' in part) {
      const before = form.fields.get(field);
      form.fields.set(field, before === undefined ? part.value : [before, part.value].flat());
      continue;
    }
    if (field !== FILE || form.file !== undefined) {
      const message = `must be the one file of the form; ${JSON.stringify(field.slice(0, 60))} is another.`;
      throw validationError([problem('invalid', message)]);
    }
    form.file = await receive(part);
  }
}

/**
 * An endpoint that takes one file as `multipart/form-data` in the field `file`. Otherwise it is a change like any
 * other.
 */
export function upload<
  const I extends string,
  P extends z.ZodType,
  Q extends z.ZodObject,
  B extends z.ZodObject,
  R extends z.ZodType,
  F extends Received,
  T,
>(declared: UploadDeclaration<I, P, Q, B, R, F, T>): Operation & Typed<I, P, Q, B, R> {
  const { receive, release, apply, answer, withoutFile, ...facts } = declared;
  return {
    ...DEFAULTS,
    ...facts,
    hasCsv: false,
    csvProfiles: [],
    takesFile: true,
    ...(withoutFile ? { mayOmitFile: true } : {}),
    prepare: (sentInput) => {
      const { mode, raw } = takeMode(sentInput);
      if (mode === 'plan')
        throw validationError([{ field: 'mode', code: 'invalid', message: 'is not supported for file uploads.' }]);
      const { parts } = raw;
      if (!parts && (!withoutFile || raw.body === undefined))
        throw new ApiError(
          'UNSUPPORTED_MEDIA_TYPE',
          'Send a multipart/form-data form with the file in the field `file`.',
        );
      type Run = ReturnType<Operation['prepare']>['run'];
      const runBare: Run = async (context, caller, circumstances) => {
        const input = await placeDays(context, caller, readInput(declared, raw), raw);
        const call = { ...input, caller, setHeader: circumstances.setHeader };
        const request = { caller, circumstances, operation: declared.id, raw, sealsAnswer: true };
        assertKeyForm(circumstances);
        const replay = await findReplay(context, request);
        if (replay) return replay;
        const lookup = await withoutFile?.(context, call);
        if (lookup === undefined)
          throw validationError([problem('required', 'is required: a form part with a file name.')]);
        return await runOnce(context, request, async (work) =>
          serialize(declared.response, answer(context, await apply(work, call, lookup))),
        );
      };
      if (!parts) return { ignored: [], price: () => 0, run: runBare };
      const run: Run = async (context, caller, circumstances) => {
        const form: ReadForm<F> = { fields: new Map(), file: undefined };
        try {
          await readForm(parts(), (part) => receive(context, caller.brandId, part), form);
          const { file } = form;
          const fields = Object.fromEntries(form.fields);
          if (!file) throw validationError([problem('required', 'is required: a form part with a file name.')]);
          const input = await placeDays(context, caller, readInput(declared, { ...raw, body: fields }), raw);
          const call = { ...input, caller, setHeader: circumstances.setHeader };
          const body = { fields, sha256: file.sha256 };
          // The response contains the file's signed URL.
          const request = { caller, circumstances, operation: declared.id, raw: { ...raw, body }, sealsAnswer: true };
          assertKeyForm(circumstances);
          const replay = await findReplay(context, request);
          if (replay) return replay;
          return await runOnce(context, request, async (work) =>
            serialize(declared.response, answer(context, await apply(work, call, file))),
          );
        } finally {
          if (form.file) await release(context, form.file);
        }
      };
      return { ignored: [], price: () => 0, run };
    },
  };
}
