import { isbot } from 'isbot';
import { whole } from './text.ts';

export type Device = 'mobile' | 'tablet' | 'desktop' | 'bot';

type PurposeHeader = 'sec-purpose' | 'purpose' | 'x-purpose' | 'x-moz';

/** What browsers say of a request that nobody made by hand. */
export type PurposeHeaders = { [name in PurposeHeader]?: string | string[] | undefined };

/** Browsers within apps write the system a second time, after what tells a phone. */
const TABLET = /iPad|Tablet|PlayBook|Silk|Kindle|^(?!.*Mobile).*Android/i;
const MOBILE = /Mobi|iPhone|iPod|Android|Opera Mini|IEMobile/i;

const KNOWN_AGENTS = 10_000;
const MAX_AGENT_LENGTH = 512;
/** Emptied when it is full: what comes often is soon in it again, and an order by use is kept at every click. */
const deviceOfAgent = new Map<string, Device>();

function readAgent(agent: string): Device {
  // No browser sends none.
  if (agent === '' || isbot(agent)) return 'bot';
  if (TABLET.test(agent)) return 'tablet';
  return MOBILE.test(agent) ? 'mobile' : 'desktop';
}

export function deviceOf(userAgent: string | undefined): Device {
  const agent = (userAgent ?? '').slice(0, MAX_AGENT_LENGTH);
  const known = deviceOfAgent.get(agent);
  if (known !== undefined) return known;
  const device = readAgent(agent);
  if (deviceOfAgent.size === KNOWN_AGENTS) deviceOfAgent.clear();
  deviceOfAgent.set(whole(agent), device);
  return device;
}

export function isPrefetch(headers: PurposeHeaders): boolean {
  const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'];
  return typeof purpose === 'string' && /^(?:prefetch|prerender|preview)/i.test(purpose);
}

/** Whether somebody looks at a page: no program, and no browser that fetches it in case it is wanted. */
export const isPerson = (headers: PurposeHeaders & { 'user-agent'?: string | undefined }): boolean =>
  !isPrefetch(headers) && deviceOf(headers['user-agent']) !== 'bot';
