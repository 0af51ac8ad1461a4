import type { Form } from '../../../kit/html/form.ts';
import { html } from '../../../kit/html/html.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { listAssetsById } from '../../../workflow/assets/assets.ts';
import { signFileUrl } from '../../../workflow/assets/files.ts';
import {
  type DeliverableFacts,
  declineDeliverable,
  findDeliverableOfLink,
  listContractDeliverables,
  listSubmissions,
  type SubmissionRow,
  startDeliverables,
  submitDeliverable,
} from '../../../workflow/deliverables/deliverables.ts';
import { isKnownToCreator } from '../../../workflow/deliverables/moves.ts';
import { creatorPage, type PageAnswer, type PageVisit } from '../declare.ts';
import { hasProblem, NO_REFUSAL, NO_SUBMISSION, readRefusal, readSubmission } from './form.ts';
import { MAX_FILES, type Posted, receivePost, releaseAll } from './receive.ts';
import { describeDeliverable, type Files, itemView, listView, pathTo } from './view.ts';

type WorkVisit = PageVisit<DeliverableFacts>;

/** The deliverables that the link opens: all of the contract, or the one without a contract. */
async function renderAll({ postgres }: Context, row: DeliverableFacts): Promise<DeliverableFacts[]> {
  return row.contractId === null ? [row] : await listContractDeliverables(postgres.db, row.brandId, row.contractId);
}

async function renderFiles(context: Context, brandId: string, submissions: readonly SubmissionRow[]): Promise<Files> {
  const ids = submissions.flatMap(({ assetIds }) => assetIds);
  const assets = ids.length === 0 ? [] : await listAssetsById(context.postgres.db, brandId, ids);
  return new Map(
    assets.map(({ id, name }) => [id, { name, url: signFileUrl(context, { assetId: id, form: 'original' }) }]),
  );
}

async function showItem(
  { context, action, brand }: WorkVisit,
  row: DeliverableFacts,
  hasOthers: boolean,
  filled: { submission?: typeof NO_SUBMISSION; refusal?: typeof NO_REFUSAL; status?: number } = {},
): Promise<PageAnswer> {
  const { submission = NO_SUBMISSION, refusal = NO_REFUSAL, status } = filled;
  const isWrong = hasProblem(submission.problems) || hasProblem(refusal.problems);
  const submissions = await listSubmissions(context.postgres.db, row.brandId, [row.id]);
  const files = await renderFiles(context, row.brandId, submissions);
  return {
    ...(status === undefined ? {} : { status }),
    title: `${isWrong ? 'Error: ' : ''}${describeDeliverable(row)}`,
    content: itemView({
      action,
      brandName: brand.name,
      row,
      submissions,
      files,
      submission,
      refusal,
      hasOthers,
      maxFileBytes: context.config.maxAssetBytes,
    }),
  };
}

async function show(visit: WorkVisit): Promise<PageAnswer> {
  const { context, row, action, query, isPerson, inWork } = visit;
  let all = await renderAll(context, row);
  const pending = all.filter(({ status }) => status === 'pending');
  if (isPerson && pending.length > 0) {
    await inWork((work) => startDeliverables(work, pending));
    all = await renderAll(context, { ...row, status: row.status === 'pending' ? 'in_progress' : row.status });
  }
  const requestedItem = all.find(({ id }) => id === query.deliverable);
  const [only] = all;
  if (requestedItem) return await showItem(visit, requestedItem, all.length > 1);
  if (only && all.length === 1) return await showItem(visit, only, false);
  const title = row.contractTitle ?? 'Your work';
  return { title, content: listView(title, visit.brand.name, action, all) };
}

/** Another change came first: the page shows the current state. */
async function conflict(visit: WorkVisit, id: string, error: unknown): Promise<PageAnswer> {
  if (!(error instanceof ApiError) || error.code !== 'INVALID_STATE_TRANSITION') throw error;
  const all = await renderAll(visit.context, visit.row);
  const row = all.find((one) => one.id === id) ?? visit.row;
  const itemPage = await showItem(visit, row, all.length > 1, { status: 409 });
  if (!('content' in itemPage)) return itemPage;
  const said = html`<p class="notice" role="alert">We could not accept this: it has changed in the meantime. This is its current state.</p>`;
  return { ...itemPage, title: `Not sent: ${describeDeliverable(row)}`, content: html`${said}${itemPage.content}` };
}

async function decline(visit: WorkVisit, row: DeliverableFacts, form: Form, hasOthers: boolean): Promise<PageAnswer> {
  const refusal = readRefusal(form);
  if (hasProblem(refusal.problems)) return await showItem(visit, row, hasOthers, { refusal, status: 422 });
  await visit.inWork((work) => declineDeliverable(work, row.id, refusal.reason));
  return { seeOther: pathTo(visit.action, row.id) };
}

async function handIn(
  visit: WorkVisit,
  row: DeliverableFacts,
  posted: Posted,
  hasOthers: boolean,
): Promise<PageAnswer> {
  const { form, files, fileProblem } = posted;
  const submission = readSubmission(form, files.length, fileProblem);
  if (hasProblem(submission.problems)) return await showItem(visit, row, hasOthers, { submission, status: 422 });
  const { contentUrl, note } = submission;
  const submittedWork = { contentUrl: contentUrl || null, caption: note || null, files };
  await visit.inWork((work) => submitDeliverable(work, row.id, submittedWork));
  return { seeOther: pathTo(visit.action, row.id) };
}

/** Hands in or declines the deliverable that the form names, if the link opens it. */
async function submit(visit: WorkVisit): Promise<PageAnswer> {
  const { context, action } = visit;
  const post = await receivePost(visit);
  try {
    const all = await renderAll(context, visit.row);
    const row = all.find(({ id }) => id === post.form.text('deliverable'));
    if (!row) return { seeOther: action };
    const isRefusal = post.form.text('do') === 'decline';
    const hasOthers = all.length > 1;
    return await (isRefusal ? decline(visit, row, post.form, hasOthers) : handIn(visit, row, post, hasOthers)).catch(
      (error: unknown) => conflict(visit, row.id, error),
    );
  } finally {
    await releaseAll(context, post.files);
  }
}

/** The page on which a creator submits the deliverables of a signed contract, or one that was requested without a contract. */
export const workPage = creatorPage<DeliverableFacts>({
  kind: 'work',
  upload: { maxFiles: MAX_FILES },
  find: async ({ postgres }, { rowId }) => {
    const row = await findDeliverableOfLink(postgres.db, rowId);
    return row && isKnownToCreator(row) ? row : undefined;
  },
  show,
  submit,
});
