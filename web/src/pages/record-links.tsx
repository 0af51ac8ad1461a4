import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { words } from '../kit/format.ts';
import { CampaignLink, CreatorLink } from './item-links.tsx';

const PAGES = [
  '/agents',
  '/applications',
  '/assets',
  '/briefs',
  '/commissions',
  '/content',
  '/contracts',
  '/conversations',
  '/customers',
  '/deliverables',
  '/directory',
  '/disputes',
  '/exports',
  '/groups',
  '/imports',
  '/keys',
  '/links',
  '/lists',
  '/orders',
  '/payouts',
  '/people',
  '/reports',
  '/rights',
  '/settings',
  '/shipments',
  '/statements',
  '/stores',
  '/webhooks',
] as const;

interface RecordKind {
  name: string;
  page?: (typeof PAGES)[number];
  /** The page's parameter that opens the record. */
  opens?: string;
}

/** Kinds of records by the letters that their ids begin with, in the order of their names. */
export const KINDS: Readonly<Record<string, RecordKind>> = {
  alr: { name: 'Alert', page: '/reports' },
  key: { name: 'API key', page: '/keys' },
  app: { name: 'Application', page: '/applications', opens: 'open' },
  brd: { name: 'Brand', page: '/settings' },
  brf: { name: 'Brief', page: '/briefs', opens: 'open' },
  cmp: { name: 'Campaign' },
  com: { name: 'Commission', page: '/commissions' },
  ctr: { name: 'Contract', page: '/contracts', opens: 'open' },
  cnv: { name: 'Conversation', page: '/conversations', opens: 'open' },
  cst: { name: 'Cost' },
  crt: { name: 'Creator' },
  cus: { name: 'Customer', page: '/customers' },
  dlv: { name: 'Deliverable', page: '/deliverables', opens: 'open' },
  dsp: { name: 'Dispute', page: '/disputes', opens: 'open' },
  exs: { name: 'Export schedule', page: '/exports' },
  ast: { name: 'File', page: '/assets', opens: 'open' },
  fld: { name: 'Folder', page: '/assets', opens: 'folder' },
  grp: { name: 'Group', page: '/groups', opens: 'open' },
  imp: { name: 'Import', page: '/imports' },
  job: { name: 'Job' },
  lnk: { name: 'Link or code', page: '/links', opens: 'open' },
  lst: { name: 'List', page: '/lists', opens: 'list' },
  ord: { name: 'Order', page: '/orders' },
  psk: { name: 'Passkey', page: '/settings' },
  pcm: { name: 'Past commission' },
  pay: { name: 'Payout', page: '/payouts', opens: 'open' },
  per: { name: 'Person', page: '/people' },
  pln: { name: 'Plan', page: '/agents', opens: 'open' },
  cnt: { name: 'Post', page: '/content', opens: 'open' },
  rep: { name: 'Report', page: '/reports' },
  drq: { name: 'Privacy request', page: '/rights', opens: 'open' },
  rst: { name: 'Roster entry' },
  ssr: { name: 'Saved search', page: '/directory' },
  shp: { name: 'Shipment', page: '/shipments', opens: 'open' },
  stm: { name: 'Statement', page: '/statements', opens: 'open' },
  int: { name: 'Store', page: '/stores' },
  trm: { name: 'Terms' },
  whk: { name: 'Webhook', page: '/webhooks', opens: 'open' },
};

export const toKindName = (id: string): string => KINDS[id.slice(0, 3)]?.name ?? 'Record';

interface RecordLinkProps {
  id: string;
  children: ReactNode;
  /** False if the record does not exist, so that nothing is linked. */
  isThere: boolean;
  /** The kind of a job, which says where its result is. */
  jobKind?: unknown;
}

/** The pages that list jobs, or open one, by their kind. */
const JOB_PAGES: ReadonlyMap<unknown, (typeof PAGES)[number] | '/reconciliation'> = new Map([
  ['approval', '/commissions'],
  ['export', '/exports'],
  ['import', '/imports'],
  ['payout_batch', '/payouts'],
  ['payout_return', '/payouts'],
  ['reconciliation', '/reconciliation'],
  ['statements', '/statements'],
]);

/** Leads to the record with this id, or to the page that lists it. */
export function RecordLink({ id, children, isThere, jobKind }: RecordLinkProps) {
  const prefix = id.slice(0, 3);
  const { page = JOB_PAGES.get(jobKind), opens = page === '/reconciliation' ? 'open' : undefined } =
    KINDS[prefix] ?? {};
  if (!isThere) return children;
  if (prefix === 'cmp') return <CampaignLink id={id}>{children}</CampaignLink>;
  if (prefix === 'crt' || prefix === 'rst') return <CreatorLink id={id}>{children}</CreatorLink>;
  if (page === undefined) return children;
  return (
    <Link to={page} search={opens === undefined ? {} : { [opens]: id }}>
      {children}
    </Link>
  );
}

const DONE: Readonly<Record<string, string>> = {
  accept: 'Accepted',
  add: 'Added',
  alert: 'Alerted',
  apply: 'Applied',
  approve: 'Approved',
  backfill: 'Read earlier',
  begin: 'Began',
  cancel: 'Cancelled',
  carry: 'Carried',
  check: 'Checked',
  claw: 'Clawed',
  complete: 'Completed',
  confirm: 'Confirmed',
  connect: 'Connected',
  create: 'Created',
  delete: 'Deleted',
  disconnect: 'Disconnected',
  end: 'Ended',
  expire: 'Expired',
  explain: 'Explained',
  invite: 'Invited',
  mark: 'Marked',
  make: 'Made',
  merge: 'Merged',
  move: 'Moved',
  notify: 'Notified',
  open: 'Opened',
  pay: 'Paid',
  preview: 'Previewed',
  profile: 'Looked up',
  read: 'Read',
  recover: 'Recovered',
  refresh: 'Refreshed',
  refuse: 'Refused',
  remove: 'Removed',
  report: 'Reported',
  request: 'Requested',
  resend: 'Sent again',
  restore: 'Restored',
  retry: 'Tried again',
  return: 'Returned',
  review: 'Reviewed',
  revoke: 'Revoked',
  rotate: 'Rotated',
  run: 'Ran',
  save: 'Saved',
  send: 'Sent',
  set: 'Set',
  settle: 'Settled',
  share: 'Shared',
  simulate: 'Simulated',
  start: 'Started',
  test: 'Tested',
  track: 'Tracked',
  undo: 'Undid',
  update: 'Changed',
  upload: 'Uploaded',
  use: 'Used',
  void: 'Voided',
};

/** Operations whose first word is not what was done. */
const SPOKEN: Readonly<Record<string, string>> = {
  auto_approve_commissions: 'Approved commissions',
  bulk_create_affiliate_codes: 'Created codes',
  cli_mail_test: 'Tested email',
  first_owner: 'Added the first owner',
  ingest: 'Received from the store',
  read_conversation: 'Marked conversation as read',
  sweep_store: 'Read the store’s orders',
};

/** Creators' actions on the pages that mails lead to. */
const ON_PAGES: Readonly<Record<string, string>> = {
  apply: 'Applied to the campaign',
  page_brief: 'Opened the brief',
  page_confirm: 'Confirmed the application',
  page_me: 'Asked about their data',
  page_parcel: 'Answered about the parcel',
  page_payment: 'Set a payment address',
  page_sign: 'Signed the contract',
  page_statement: 'Asked about the statement',
  page_talk: 'Wrote in the conversation',
  page_unsubscribe: 'Unsubscribed from emails',
  page_work: 'Worked on the deliverable',
};

/** A creator's action on a deliverable's page, by the deliverable's new state. */
const WORKED: Readonly<Record<string, string>> = {
  in_progress: 'Opened the deliverable',
  submitted: 'Sent the deliverable',
  declined: 'Declined the deliverable',
};

/** A creator's wish on their own page, by its kind. */
const ASKED: Readonly<Record<string, string>> = { access: 'Asked for their data', erasure: 'Asked to be erased' };

interface ChangedRecord {
  resource_id: string;
  new: Readonly<Record<string, unknown>> | null;
}

/** The deed of a creator on a page that has several. */
function deedText(operation: string, { resource_id: id, new: next }: ChangedRecord): string | undefined {
  if (operation === 'page_me') return ASKED[String(next?.kind)];
  if (operation !== 'page_work') return undefined;
  return id.startsWith('ast_') ? 'Sent a file' : WORKED[String(next?.status)];
}

export const isOnPage = (operation: string) => operation in ON_PAGES;

/** An operation as something that happened, to a record if there is one: "Changed campaign" for `update_campaign`. */
export function doneText(operation: string, changed?: ChangedRecord): string {
  const [verb = '', ...rest] = operation.split('_');
  const doneVerb = DONE[verb];
  const deed = (changed && deedText(operation, changed)) ?? SPOKEN[operation] ?? ON_PAGES[operation];
  return deed ?? (doneVerb === undefined ? words(operation) : [doneVerb, ...rest].join(' '));
}
