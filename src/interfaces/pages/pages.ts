import { briefPage } from './brief.ts';
import { confirmPage } from './confirm.ts';
import type { CreatorPage } from './declare.ts';
import { mePage } from './me/page.ts';
import { parcelPage } from './parcel.ts';
import { paymentPage } from './payment.ts';
import { signPage } from './sign.ts';
import { statementPage } from './statement/page.ts';
import { talkPage } from './talk.ts';
import { unsubscribePage } from './unsubscribe.ts';
import { workPage } from './work/page.ts';

/** Every page that opens with a link alone, one per line. */
export const creatorPages: readonly CreatorPage[] = [
  mePage,
  briefPage,
  confirmPage,
  signPage,
  workPage,
  parcelPage,
  paymentPage,
  statementPage,
  talkPage,
  unsubscribePage,
];
