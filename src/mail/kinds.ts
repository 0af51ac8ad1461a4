import type { z } from 'zod';
import { applicationChanged } from './templates/application-changed.ts';
import { assetRightsEnding } from './templates/asset-rights-ending.ts';
import { briefSent } from './templates/brief-sent.ts';
import { contractSent, contractSigned, contractSignedBrand, contractVoided } from './templates/contracts.ts';
import {
  deliverableApproved,
  deliverableCancelled,
  deliverableDeclined,
  deliverableSubmitted,
  revisionRequested,
  workRequested,
} from './templates/deliverables.ts';
import { disputeAnswered } from './templates/dispute-answered.ts';
import { disputeOpened } from './templates/dispute-opened.ts';
import { invitation } from './templates/invitation.ts';
import { mailTest } from './templates/mail-test.ts';
import { messageSent } from './templates/message-sent.ts';
import { parcelOnItsWay } from './templates/parcel-on-its-way.ts';
import { signIn } from './templates/sign-in.ts';
import { statementReady } from './templates/statement-ready.ts';
import { webhookDisabled, webhookFailing } from './templates/webhook-failing.ts';

/** Every kind of mail, a line each. */
export const TEMPLATES = {
  application_changed: applicationChanged,
  dispute_answered: disputeAnswered,
  dispute_opened: disputeOpened,
  brief_sent: briefSent,
  contract_sent: contractSent,
  contract_signed: contractSigned,
  contract_signed_brand: contractSignedBrand,
  contract_voided: contractVoided,
  deliverable_approved: deliverableApproved,
  deliverable_cancelled: deliverableCancelled,
  deliverable_declined: deliverableDeclined,
  deliverable_submitted: deliverableSubmitted,
  revision_requested: revisionRequested,
  work_requested: workRequested,
  asset_rights_ending: assetRightsEnding,
  invitation,
  mail_test: mailTest,
  message_sent: messageSent,
  parcel_on_its_way: parcelOnItsWay,
  sign_in: signIn,
  statement_ready: statementReady,
  webhook_failing: webhookFailing,
  webhook_disabled: webhookDisabled,
};

export type MailKind = keyof typeof TEMPLATES;

/** The params of a kind, as passed when a mail is queued. */
export type MailParams<K extends MailKind> = z.input<(typeof TEMPLATES)[K]['params']>;

/** Whether recipients can unsubscribe from such mails. */
export const isStoppable = (kind: MailKind): boolean => TEMPLATES[kind].audience !== 'brand';

export const isMailKind = (kind: string): kind is MailKind => Object.hasOwn(TEMPLATES, kind);
