import { isbot } from 'isbot';
import { whole } from './text.ts';

export type Device = 'mobile' | 'tablet' | 'desktop' | 'bot';

type PurposeHeader = 'sec-purpose' | 'purpose' | 'x-purpose' | 'x-moz';

/** Headers by which browsers mark requests that no person made, such as prefetches. */
export type PurposeHeaders = { [name in PurposeHeader]?: string | string[] | undefined };

/** In-app browsers repeat the system after the word that marks a phone. */
const TABLET = /iPad|Tablet|PlayBook|Silk|Kindle|^(?!.*Mobile).*Android/i;
const MOBILE = /Mobi|iPhone|iPod|Android|Opera Mini|IEMobile/i;

const KNOWN_AGENTS = 10_000;
const MAX_AGENT_LENGTH = 512;
/** A cache that is emptied when full. Frequent agents are soon back, and no order of use needs updating at each click. */
const deviceOfAgent = new Map<string, Device>();

function readAgent(agent: string): Device {
  // Every browser sends a user agent.
  if (agent === '' || isbot(agent)) return 'bot';
  if (TABLET.test(agent)) return 'tablet';
  return MOBILE.test(agent) ? 'mobile' : 'desktop';
}

export function detectDevice(userAgent: string | undefined): Device {
  const agent = (userAgent ?? '').slice(0, MAX_AGENT_LENGTH);
  const cached = deviceOfAgent.get(agent);
  if (cached !== undefined) return cached;
  const device = readAgent(agent);
  if (deviceOfAgent.size === KNOWN_AGENTS) deviceOfAgent.clear();
  deviceOfAgent.set(whole(agent), device);
  return device;
}

export function isPrefetch(headers: PurposeHeaders): boolean {
  const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'];
  return typeof purpose === 'string' && /^(?:prefetch|prerender|preview)/i.test(purpose);
}

/** True if a person is viewing the page: neither a program nor a browser's prefetch. */
export const isPerson = (headers: PurposeHeaders & { 'user-agent'?: string | undefined }): boolean =>
  !isPrefetch(headers) && detectDevice(headers['user-agent']) !== 'bot';
