import { briefPage } from './brief/page.ts';
import { confirmPage } from './confirm/page.ts';
import type { CreatorPage } from './declare.ts';
import { mePage } from './me/page.ts';
import { parcelPage } from './parcel/page.ts';
import { paymentPage } from './payment/page.ts';
import { signPage } from './sign/page.ts';
import { statementPage } from './statement/page.ts';
import { talkPage } from './talk/page.ts';
import { unsubscribePage } from './unsubscribe/page.ts';
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
