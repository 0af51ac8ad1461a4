import { HOUR_MS, MINUTE_MS } from '../../../kit/values/duration.ts';
import { timeZoneName, toInstant } from '../../../kit/values/time-zone.ts';

/** Abbreviations by the offsets, in minutes, that they mean somewhere. */
const ABBREVIATIONS: Readonly<Record<string, readonly number[]>> = {
  UTC: [0],
  GMT: [0],
  Z: [0],
  WET: [0],
  WEST: [60],
  CET: [60],
  CEST: [120],
  MEZ: [60],
  MESZ: [120],
  EET: [120],
  EEST: [180],
  MSK: [180],
  EST: [-300],
  EDT: [-240],
  CDT: [-300],
  MST: [-420],
  MDT: [-360],
  PST: [-480],
  PDT: [-420],
  AKST: [-540],
  AKDT: [-480],
  HST: [-600],
  JST: [540],
  KST: [540],
  SGT: [480],
  HKT: [480],
  AEST: [600],
  AEDT: [660],
  ACST: [570],
  ACDT: [630],
  AWST: [480],
  NZST: [720],
  NZDT: [780],
  SAST: [120],
  BRT: [-180],
  BST: [60, 360],
  CST: [-360, 480, -300],
  IST: [330, 120, 60],
};

/** Zones as Square and others write them. */
const NAMES: Readonly<Record<string, string>> = {
  et: 'America/New_York',
  eastern: 'America/New_York',
  'eastern time': 'America/New_York',
  ct: 'America/Chicago',
  central: 'America/Chicago',
  mt: 'America/Denver',
  mountain: 'America/Denver',
  pt: 'America/Los_Angeles',
  pacific: 'America/Los_Angeles',
  'pacific time': 'America/Los_Angeles',
  'eastern time (us & canada)': 'America/New_York',
  'central time (us & canada)': 'America/Chicago',
  'mountain time (us & canada)': 'America/Denver',
  'pacific time (us & canada)': 'America/Los_Angeles',
  'atlantic time (canada)': 'America/Halifax',
  'indiana (east)': 'America/Indiana/Indianapolis',
  arizona: 'America/Phoenix',
  alaska: 'America/Juneau',
  hawaii: 'Pacific/Honolulu',
  newfoundland: 'America/St_Johns',
  saskatchewan: 'America/Regina',
  london: 'Europe/London',
  dublin: 'Europe/Dublin',
  paris: 'Europe/Paris',
  madrid: 'Europe/Madrid',
  tokyo: 'Asia/Tokyo',
  sydney: 'Australia/Sydney',
  melbourne: 'Australia/Melbourne',
  brisbane: 'Australia/Brisbane',
  adelaide: 'Australia/Adelaide',
  darwin: 'Australia/Darwin',
  hobart: 'Australia/Hobart',
  perth: 'Australia/Perth',
};

export type Zone = { offsets: readonly number[] } | { name: string };

const cachedZones = new Map<string, Zone | undefined>();

/** The zone that a text names: an offset, an abbreviation or a name of IANA's. Few zones stand in many cells. */
export function readZone(text: string): Zone | undefined {
  if (cachedZones.has(text)) return cachedZones.get(text);
  if (cachedZones.size > 500) cachedZones.clear();
  const zone = parseZone(text);
  cachedZones.set(text, zone);
  return zone;
}

function parseZone(text: string): Zone | undefined {
  const bare = text.trim();
  const offset = /^(?:GMT|UTC)?\s?([+-])(\d{1,2}):?(\d{2})?$/i.exec(bare);
  if (offset) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3] ?? 0);
    if (minutes > 14 * 60 || Number(offset[3] ?? 0) > 59) return undefined;
    return { offsets: [offset[1] === '-' ? -minutes : minutes] };
  }
  const offsets = ABBREVIATIONS[bare.toUpperCase()];
  if (offsets) return { offsets };
  const zoneName = NAMES[bare.toLowerCase()] ?? bare;
  const name = zoneName.includes('/') ? timeZoneName(zoneName) : undefined;
  return name === undefined ? undefined : { name };
}

/** The moment of a wall time in a zone; an abbreviation of several offsets means the one that `timeZone` has then. */
export function resolveZone(zone: Zone, wallMs: number, timeZone: string): number | undefined {
  if ('name' in zone) return toInstant(zone.name, wallMs);
  const [only, ...others] = zone.offsets;
  if (only !== undefined && others.length === 0) return wallMs - only * MINUTE_MS;
  const here = wallMs - toInstant(timeZone, wallMs);
  return zone.offsets.includes(here / MINUTE_MS) ? wallMs - here : undefined;
}

export const NOON_MS = 12 * HOUR_MS;
