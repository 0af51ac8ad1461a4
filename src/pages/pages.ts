import type { CreatorPage } from './declare.ts';
import { parcelPage } from './parcel/page.ts';
import { statementPage } from './statement/page.ts';
import { unsubscribePage } from './unsubscribe/page.ts';

/** Every page that opens by a link alone, a line each. */
export const creatorPages: readonly CreatorPage[] = [parcelPage, statementPage, unsubscribePage];
