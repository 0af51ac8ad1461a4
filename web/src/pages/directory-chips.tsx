import { useAll, useCall } from '../call/use.ts';
import { roundCompact, words } from '../kit/format.ts';
import { Button } from '../kit/parts.tsx';
import { usePlaceNames } from './directory-names.ts';
import {
  type Changes,
  type ChangesOf,
  type DirectorySearch,
  filtersIn,
  readListIds,
  readValues,
  type SearchParameters,
  without,
} from './directory-search.ts';

interface Chip {
  key: string;
  text: string;
  /** The change of the search that removes it. */
  changes: Changes | ChangesOf;
}

const RANGES = [
  ['follower', 'Followers', ''],
  ['engagement', 'Engagement', '%'],
  ['age', 'Age', ''],
  ['posts', 'Posts', ''],
  ['following', 'Following', ''],
] as const;

const ANY = ['city_any', 'category_any', 'niche_any', 'country_any', 'state_any', 'gender_any'] as const;
const NOT = ['not_city', 'not_category', 'not_niche', 'not_country'] as const;
const SAID = {
  is_verified: ['Verified', 'Not verified'],
  has_email: ['With email', 'Without email'],
  has_url: ['With a link', 'Without a link'],
} as const;
const TRUTHS = ['is_verified', 'has_email', 'has_url'] as const;

function rangeChips(search: SearchParameters): Chip[] {
  return RANGES.flatMap(([param, label, unit]): Chip[] => {
    const [least, most] = [search[`${param}_min`], search[`${param}_max`]];
    if (least === undefined && most === undefined) return [];
    const [from, to] = [roundCompact(Number(least)), roundCompact(Number(most))];
    const text = least === undefined ? `up to ${to}` : most === undefined ? `from ${from}` : `${from} to ${to}`;
    const changes = { [`${param}_min`]: undefined, [`${param}_max`]: undefined };
    return [{ key: param, text: `${label} ${text}${unit}`, changes }];
  });
}

function valueChips(search: SearchParameters, name: string, toText: (value: string) => string): Chip[] {
  return readValues(search, name).map((value) => ({
    key: `${name}:${value}`,
    text: toText(value),
    changes: (now) => ({
      [name]: readValues(now, name)
        .filter((other) => other !== value)
        .join('|'),
    }),
  }));
}

/** Everything that narrows the search, each to be removed by itself. */
export function Chips({ by: { search, change } }: { by: DirectorySearch }) {
  const names = usePlaceNames();
  const chooseLabel = (name: string) => {
    if (name.includes('country')) return names.country;
    if (name.includes('city')) {
      return (value: string) => (names.metro(value) === value ? words(value) : names.metro(value));
    }
    return name === 'state_any' ? names.state : words;
  };
  const chips: Chip[] = [
    ...ANY.flatMap((name) => valueChips(search, name, chooseLabel(name))),
    ...NOT.flatMap((name) => valueChips(search, name, (value) => `Not ${chooseLabel(name)(value)}`)),
    ...rangeChips(search),
    ...TRUTHS.flatMap((name) =>
      search[name] === undefined
        ? []
        : [{ key: name, text: SAID[name][search[name] === 'true' ? 0 : 1], changes: { [name]: undefined } }],
    ),
  ];
  const lists = useAll('list_lists', {});
  const listChips = (['in_list', 'not_in_list'] as const).flatMap((name) => {
    return readListIds(search, name).map((id) => {
      const list = lists.data?.find((one) => one.id === id)?.name ?? 'A list';
      const changes: ChangesOf = (now) => ({
        [name]: readListIds(now, name)
          .filter((one) => one !== id)
          .join(','),
      });
      return { key: `${name}:${id}`, text: name === 'in_list' ? `In ${list}` : `Not in ${list}`, changes };
    });
  });
  chips.push(...listChips);
  const seeds = search.similar_to?.split(',') ?? [];
  const seed = useCall('get_directory_creator', { params: { pk: seeds[0] ?? '' } }, { enabled: seeds.length === 1 })
    .data?.data;
  if (seeds.length > 0) {
    const text = seed && seeds.length === 1 ? `Similar to @${seed.username}` : `Similar to ${seeds.length} creators`;
    chips.push({ key: 'similar', text, changes: { similar_to: undefined } });
  }
  if (search.fresh_within_days !== undefined) {
    const text = `Data at most ${search.fresh_within_days} days old`;
    chips.push({ key: 'fresh', text, changes: { fresh_within_days: undefined } });
  }
  if (search.exclude_roster === 'true') {
    chips.push({ key: 'roster', text: 'Not on the roster', changes: { exclude_roster: undefined } });
  }
  if (chips.length === 0) return null;
  const none = Object.fromEntries(filtersIn(without(search, ['q'])).map((name) => [name, undefined]));
  return (
    <div className="row chips">
      {chips.map(({ key, text, changes }) => (
        <button
          key={key}
          type="button"
          className="chip on"
          aria-label={`Remove ${text}`}
          onClick={() => change(changes)}
        >
          {text} <span aria-hidden>✕</span>
        </button>
      ))}
      <Button kind="quiet" onPress={() => change(none)}>
        Clear all
      </Button>
    </div>
  );
}
