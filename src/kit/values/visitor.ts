import { isbot } from 'isbot';
import rows from './agents.json' with { type: 'json' };
import { whole } from './text.ts';

/** Why a click counts or does not. Clicks that do not count are stored, too. */
export const CLICK_KINDS = ['counted', 'repeat', 'bot', 'prefetch', 'head', 'embedded'] as const;
export type ClickKind = (typeof CLICK_KINDS)[number];

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
const knownAgents = new Map<string, Agent>();

/** A browser or program, by its user agent. */
export interface Agent {
  device: Device;
  /** The row of `agents.json` that decided, else `isbot`, `android_model` or `no_agent`; empty if no rule applied. */
  rule: string;
}

const RULES = rows.map(({ name, match, is }) => ({ name, pattern: new RegExp(match, 'i'), isBot: is === 'bot' }));

/**
 * The model in the user agent of an Android browser, which may be called M bot 60 or Spider 8. A robot that passes for a
 * phone has an address, a version or the word "compatible" there.
 */
const MODEL =
  /^(Mozilla\/5\.0 \(Linux; (?:U; |arm_64; )?Android [\d.]+); (?![^()]*(?:compatible|screenshot|-Google\/|Neustar|\/\/|@|(?:bot|crawler|spider)\w*\/))[^()]*(?=\) AppleWebKit\/)/i;
/** Meta's apps name the model once more. */
const APP_MODEL = / Android \(\d+\/[^()]*\)/;

/** True if only the model of a phone has a word by which robots are known. */
const isNamedLikeRobot = (agent: string): boolean =>
  MODEL.test(agent) && !isbot(agent.replace(MODEL, '$1').replace(APP_MODEL, ''));

function detectRobot(agent: string): { isBot: boolean; rule: string } {
  // Every browser sends a user agent.
  if (agent === '') return { isBot: true, rule: 'no_agent' };
  const row = RULES.find(({ pattern }) => pattern.test(agent));
  if (row) return { isBot: row.isBot, rule: row.name };
  if (!isbot(agent)) return { isBot: false, rule: '' };
  return isNamedLikeRobot(agent) ? { isBot: false, rule: 'android_model' } : { isBot: true, rule: 'isbot' };
}

function readDevice(agent: string): Device {
  if (TABLET.test(agent)) return 'tablet';
  return MOBILE.test(agent) ? 'mobile' : 'desktop';
}

function readAgent(agent: string): Agent {
  const { isBot, rule } = detectRobot(agent);
  return { device: isBot ? 'bot' : readDevice(agent), rule };
}

export function detectAgent(userAgent: string | undefined): Agent {
  const text = (userAgent ?? '').slice(0, MAX_AGENT_LENGTH);
  const cached = knownAgents.get(text);
  if (cached !== undefined) return cached;
  const agent = readAgent(text);
  if (knownAgents.size === KNOWN_AGENTS) knownAgents.clear();
  knownAgents.set(whole(text), agent);
  return agent;
}

const EARLY = /\b(?:prefetch|prerender|preview)\b/i;

/** True if any of the headers says so, wherever in its list. */
export function isPrefetch({ 'sec-purpose': sec, purpose, 'x-purpose': safari, 'x-moz': firefox }: PurposeHeaders) {
  if ((sec ?? purpose ?? safari ?? firefox) === undefined) return false;
  return EARLY.test(`${sec} ${purpose} ${safari} ${firefox}`);
}

/** Headers by which browsers say what a request is for. */
export interface FetchHeaders {
  'sec-fetch-dest'?: string | string[] | undefined;
  'sec-fetch-mode'?: string | string[] | undefined;
}

/** True if a page requests something for itself, such as a picture or a frame. Browsers that do not say so visit. */
export const isEmbedded = ({ 'sec-fetch-dest': dest, 'sec-fetch-mode': mode }: FetchHeaders): boolean =>
  dest !== undefined && (dest !== 'document' || (mode !== undefined && mode !== 'navigate'));

/** True if a person is viewing the page: neither a program nor a browser's prefetch. */
export const isPerson = (headers: PurposeHeaders & { 'user-agent'?: string | undefined }): boolean =>
  !isPrefetch(headers) && detectAgent(headers['user-agent']).device !== 'bot';
