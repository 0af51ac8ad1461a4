/** A contract in words, for the pages of creators, for mails, and for the web app, which shows a draft. */
import { datesIn } from '../../kit/values/format.ts';
import { platformName } from '../../kit/values/platforms.ts';

/** The parts of a contract that are read; `SignedText` keeps more. */
export interface ContractWords {
  brand: { name: string };
  creator: { email: string; name: string | null };
  campaign: { title: string } | null;
  compensation: { type: string; label: string | null } | null;
  deliverables: readonly { type: string; platform: string | null; quantity: number; due_date: string | null }[];
  usage_rights: string | null;
  terms: {
    channels: readonly string[];
    territory: string | null;
    days: number | null;
    starts: string;
    starts_on: string | null;
  } | null;
}

const { longDay } = datesIn('UTC');

/** A channel is any word of the brand; a single adjective needs its noun. */
const CHANNELS: Readonly<Record<string, string>> = { organic: 'organic posts', paid: 'paid ads' };
const nameChannel = (channel: string): string => CHANNELS[channel] ?? channel.replaceAll('_', ' ');

const STARTS: Readonly<Record<string, string>> = {
  signed: 'from the signature',
  posted: 'from the first post',
  fixed: 'from',
};

/** "2 × reel, Instagram, by January 31, 2027" */
function itemLine({ type, platform, quantity, due_date }: ContractWords['deliverables'][number]): string {
  return [
    `${quantity} × ${type}`,
    ...(platform === null ? [] : [platformName(platform)]),
    ...(due_date === null ? [] : [`by ${longDay(due_date)}`]),
  ].join(', ');
}

function termsLines(terms: NonNullable<ContractWords['terms']>): string[] {
  const { channels, territory, days, starts, starts_on } = terms;
  const from = `${STARTS[starts] ?? starts}${starts_on === null ? '' : ` ${longDay(starts_on)}`}`;
  return [
    `Channels: ${channels.length > 0 ? channels.map(nameChannel).join(', ') : 'any'}`,
    `Territory: ${territory ?? 'worldwide'}`,
    days === null ? `How long: without an end, ${from}` : `How long: ${days} ${days === 1 ? 'day' : 'days'}, ${from}`,
  ];
}

export interface Section {
  heading: string;
  /** The person's own words, or a standard sentence. */
  text?: string;
  lines?: string[];
}

/** The text in sections, for display. */
export function toSections(text: ContractWords): Section[] {
  const { brand, creator, campaign, compensation, deliverables, usage_rights, terms } = text;
  const who = creator.name === null ? creator.email : `${creator.name} (${creator.email})`;
  const isNone = usage_rights === null && terms === null;
  return [
    {
      heading: 'Who',
      text: `Between ${brand.name} and ${who}${campaign === null ? '' : `, for the campaign ${campaign.title}`}.`,
    },
    deliverables.length === 0
      ? { heading: 'Deliverables', text: 'No deliverables.' }
      : { heading: 'Deliverables', lines: deliverables.map(itemLine) },
    { heading: 'Compensation', text: compensation === null ? 'None.' : (compensation.label ?? compensation.type) },
    {
      heading: 'Usage rights',
      ...(isNone ? { text: 'None.' } : {}),
      ...(usage_rights === null ? {} : { text: usage_rights }),
      ...(terms === null ? {} : { lines: termsLines(terms) }),
    },
  ];
}
