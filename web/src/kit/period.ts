import { type Filter, findChoice, useFilters } from './filters.tsx';
import { brandZone, today as todayHere } from './format.ts';
import { DAY_MS, toUtcDay } from './utc-day.ts';

const PRESETS = ['7d', '30d', '90d', 'month', 'last_month', 'year'] as const;
type Preset = (typeof PRESETS)[number];

const LABELS: Readonly<Record<Preset, string>> = {
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  month: 'This month',
  last_month: 'Last month',
  year: 'This year',
};
const USUAL: Preset = '30d';

/** Days, both included. */
interface Period {
  from: string;
  to: string;
}

interface ZonedPeriod extends Period {
  /** The zone of the address, as a report's mail has it; else the brand's, which needs no name. */
  time_zone: string | undefined;
  /** The name of either. */
  zone: string;
  filters: readonly Filter[];
}

const daysBefore = (day: string, days: number) => toUtcDay(Date.parse(day) - days * DAY_MS);

function resolvePreset(preset: Preset, today: string): Period {
  const at = new Date(today);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  if (preset === 'month') return { from: toUtcDay(Date.UTC(year, month)), to: today };
  if (preset === 'last_month') {
    return { from: toUtcDay(Date.UTC(year, month - 1)), to: toUtcDay(Date.UTC(year, month, 0)) };
  }
  if (preset === 'year') return { from: toUtcDay(Date.UTC(year, 0)), to: today };
  return { from: daysBefore(today, Number.parseInt(preset, 10) - 1), to: today };
}

/** The period of the page, as dates or by its name in the address, and its filters. A name stays true tomorrow. */
export function usePeriod(usual: Preset = USUAL): ZonedPeriod {
  const { get } = useFilters();
  const today = todayHere();
  const zone = get('time_zone');
  const dates = { from: get('from'), to: get('to') };
  const isDated = dates.from !== undefined || dates.to !== undefined;
  const preset = findChoice(get('period'), PRESETS) ?? usual;
  const to = dates.to ?? today;
  const period = isDated
    ? { from: dates.from ?? daysBefore(to, Number.parseInt(USUAL, 10) - 1), to }
    : resolvePreset(preset, today);
  return {
    ...period,
    time_zone: zone,
    zone: zone ?? brandZone(),
    filters: [
      {
        name: 'period',
        label: 'Period',
        kind: 'select',
        all: 'These dates',
        clears: ['from', 'to'],
        options: PRESETS.map((one) => [one, LABELS[one]]),
        fallback: isDated ? '' : usual,
      },
      { name: 'from', label: 'From', kind: 'date', fallback: period.from, clears: ['period'] },
      { name: 'to', label: 'To', kind: 'date', fallback: period.to, clears: ['period'] },
    ],
  };
}
