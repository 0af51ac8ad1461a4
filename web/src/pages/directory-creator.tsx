import type { ReactNode } from 'react';
import type { Row } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { compact, countryName, day, number, rate, words } from '../kit/format.ts';
import { Glance } from '../kit/glance.tsx';
import { Button, Facts, Failure, Stat, Stats } from '../kit/parts.tsx';
import { platformName, postName } from '../kit/platforms.ts';
import { Opener } from '../kit/table.tsx';
import { usePlaceNames } from './directory-names.ts';
import { Similar } from './directory-similar.tsx';

export type Creator = Row<'search_creators'>;

export const getName = ({ full_name, username }: Creator) => full_name || username;

/** The sign of a verified profile, beside its name. */
function Verified({ of }: { of: Creator }) {
  if (!of.is_verified) return null;
  return (
    <span className="verified" role="img" aria-label="Verified" title="Verified">
      ✓
    </span>
  );
}

/** The sign of a profile with an email address. */
const EmailKnown = () => (
  <svg className="platform" viewBox="0 0 24 24" role="img" aria-label="Email known">
    <title>Email known</title>
    <path d="M3 6h18v12H3V6ZM3 7l9 7 9-7" />
  </svg>
);

/** Nothing answers at a host under the reserved `.example`, which sample data has: its picture is never requested. */
export function getPicture({ profile_pic_url: url }: Pick<Creator, 'profile_pic_url'>): string | null {
  const isReserved = url !== null && URL.canParse(url) && new URL(url).hostname.endsWith('.example');
  return isReserved ? null : url;
}

/** The same face as on the roster, if the creator is on it. */
export const toFace = (of: Creator) => ({
  name: getName(of),
  email: of.extracted_email,
  handle: of.username,
  picture: getPicture(of),
});

/** One line, so that all rows are equally high: a phone has no column for the place, and shows it here. */
function About({ of }: { of: Creator }) {
  const place = usePlace(of);
  const isNamed = of.full_name !== null && of.full_name !== '';
  return (
    <span className="with-sign">
      <span className="one-line">
        <span className={place !== '' && isNamed ? 'wide' : undefined}>@{of.username}</span>
        {isNamed && <span className="narrow">{place}</span>}
      </span>
      {of.extracted_email && <EmailKnown />}
    </span>
  );
}

/** A creator in a table: picture, name, handle and place. The name opens the card. */
export function CreatorOpener({ of, onOpen }: { of: Creator; onOpen: () => void }) {
  return (
    <div className="person">
      <CreatorFace {...toFace(of)} />
      <div>
        <Opener onOpen={onOpen} second={<About of={of} />}>
          <span className={/\s/.test(getName(of)) ? undefined : 'handle-name'}>{getName(of)}</span> <Verified of={of} />
        </Opener>
      </div>
    </div>
  );
}

/** Places are stored as the source spelt them, some without capitals. */
function capitalize(place: string | null): string | null {
  if (place === null || place !== place.toLowerCase()) return place;
  return place.length === 2 ? place.toUpperCase() : place.replace(/(?<![\p{L}'’])\p{L}/gu, (c) => c.toUpperCase());
}

const HOME = /^(?:u\.?s\.?a?\.?|united states(?: of america)?)$/i;

/** A country by its name, whether the source gave its code or its name. */
const toCountry = (text: string) => countryName(text.length === 2 ? text.toUpperCase() : (capitalize(text) ?? text));

/** The place of a creator, spelt alike for all: “Houston, Texas” or “Incheon, South Korea”; empty if unknown. */
function usePlace({ city, state, country }: Creator): string {
  const { state: toStateName } = usePlaceNames();
  const isHome = !country || HOME.test(country);
  const code = state?.toUpperCase() ?? '';
  const stateName = isHome ? toStateName(code) : code;
  const region = stateName === code ? capitalize(state) : stateName;
  const isRegionEnough = isHome && Boolean(region);
  return [capitalize(city), region, !isRegionEnough && country && toCountry(isHome ? 'US' : country)]
    .filter(Boolean)
    .join(', ');
}

export const Place = ({ of }: { of: Creator }) => usePlace(of) || '–';

const isWeb = (url: string) => /^https?:\/\//.test(url);

function Outside({ url, children }: { url: string; children: ReactNode }) {
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

interface CreatorCardProps {
  creator: Creator | undefined;
  onClose: () => void;
  /** Opens another creator in its place. */
  onOpen: (creator: Creator) => void;
  /** The creators of the page, in their order, to step through. */
  among: readonly Creator[];
  /** Buttons that act on the creator. */
  actions: ReactNode;
}

/** One creator in a side panel. */
export function CreatorCard({ creator, onClose, onOpen, among, actions }: CreatorCardProps) {
  return (
    <Dialog title={creator ? getName(creator) : ''} isOpen={creator !== undefined} onClose={onClose} isSide>
      {creator && (
        <>
          <Steps creator={creator} among={among} onOpen={onOpen} />
          <Shown creator={creator} actions={actions} />
          <Similar to={creator} onOpen={onOpen} onClose={onClose} />
        </>
      )}
    </Dialog>
  );
}

/** Leads to the creators before and after this one. */
function Steps({ creator, among, onOpen }: Pick<CreatorCardProps, 'among' | 'onOpen'> & { creator: Creator }) {
  const index = among.findIndex(({ pk }) => pk === creator.pk);
  const step = (by: number) => {
    const next = among[index + by];
    if (next) onOpen(next);
  };
  if (index < 0 || among.length < 2) return null;
  return (
    <nav className="row" aria-label="Creators of this page">
      <Button isDisabled={index === 0} onPress={() => step(-1)}>
        ← Previous
      </Button>
      <Button isDisabled={index === among.length - 1} onPress={() => step(1)}>
        Next →
      </Button>
      <span className="muted small">
        {number(index + 1)} of {number(among.length)}
      </span>
    </nav>
  );
}

/** The newest posts of theirs that the brand tracks. */
const Posts = ({ email }: { email: string }) => (
  <Glance
    title="Recent posts"
    id="list_content"
    to="/content"
    query={{ creator_email: email }}
    empty={null}
    row={(post) => ({
      key: post.id,
      name: post.caption ?? postName(post),
      second: `${platformName(post.platform)}, ${day(post.posted_at ?? post.tracked_at)}`,
      ...(post.metrics.views === null ? {} : { value: `${compact(post.metrics.views)} views` }),
    })}
  />
);

function Shown({ creator, actions }: Pick<CreatorCardProps, 'actions'> & { creator: Creator }) {
  const { data, error, refetch } = useCall('get_directory_creator', { params: { pk: String(creator.pk) } });
  const more = data?.data.pk === creator.pk ? data.data : undefined;
  const fresh = more && data?.meta;
  const place = usePlace(creator);
  const { username, extracted_email, external_url, biography, niches } = creator;
  return (
    <>
      <div className="profile">
        <CreatorFace {...toFace(creator)} isLarge />
        <div>
          <p>
            <Outside url={`https://www.instagram.com/${encodeURIComponent(username)}/`}>@{username}</Outside>{' '}
            <Verified of={creator} />
          </p>
          <p className="muted">{[creator.category, place].filter(Boolean).join(' · ')}</p>
        </div>
      </div>
      {biography && <p className="biography">{biography}</p>}
      <Stats>
        <Stat label="Followers" value={compact(creator.follower_count)} />
        <Stat label="Engagement" value={rate(creator.engagement_rate)} />
        <Stat label="Posts" value={compact(more?.media_count)} />
        <Stat label="Following" value={compact(more?.following_count)} />
      </Stats>
      {error && <Failure error={error} again={() => void refetch()} />}
      <Facts
        of={[
          [
            'Email',
            extracted_email ? (
              <a href={`mailto:${extracted_email}`}>{extracted_email}</a>
            ) : (
              <span className="muted">Not on the profile</span>
            ),
          ],
          [
            'Link',
            external_url && (isWeb(external_url) ? <Outside url={external_url}>{external_url}</Outside> : external_url),
          ],
          ['Niches', niches],
          ['Age', number(more?.age)],
          ['Gender', words(more?.gender)],
          ['Data from', fresh ? day(fresh.data_as_of) : '–'],
          ['Last change', fresh ? day(fresh.changed_at) : '–'],
        ]}
      />
      {extracted_email && <Posts email={extracted_email} />}
      <div className="popup-foot">{actions}</div>
    </>
  );
}
