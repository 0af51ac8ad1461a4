import { CallError } from '../call/call.ts';

/** The page of the manual that says what a refusal is about. */
const PAGES: Readonly<Record<string, string>> = {
  REVIEW_PERIOD_ACTIVE: 'money',
  ORDER_NOT_PAID: 'money',
  COMMISSION_PAID: 'money',
  INVALID_SELECTION: 'money',
  DUPLICATE_CODE: 'attribution',
  MONEY_DUE: 'people',
  CREDITS_EXHAUSTED: 'searching',
  CONTACT_INFO_BLOCKED: 'assets-and-messages',
  STORAGE_LIMIT_REACHED: 'assets-and-messages',
  POLICY_REFUSED: 'agents',
  PLAN_OUTDATED: 'agents',
  QUESTIONS_OPEN: 'moving',
  READING_OUTDATED: 'moving',
  WEBHOOK_LIMIT_REACHED: 'webhooks',
  ROLE_REQUIRED: 'web-app',
  SUBSCRIPTION_REQUIRED: 'administration',
  CREATOR_LIMIT_REACHED: 'administration',
  RATE_LIMITED: 'searching',
};

/** After the text of a refusal: the page of the manual that helps, where there is one. */
export function Help({ of: error }: { of: Error }) {
  const page = error instanceof CallError ? PAGES[error.code] : undefined;
  if (page === undefined) return null;
  return (
    <>
      {' '}
      <a href={`/manual/${page}`} target="_blank" rel="noreferrer">
        Read more in the manual
      </a>
    </>
  );
}
