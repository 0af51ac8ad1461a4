import type { ReactNode } from 'react';
import type { Row } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { compact, countryName, day, number, rate, words } from '../kit/format.ts';
import { Facts, Failure, Stat, Stats } from '../kit/parts.tsx';
import { Opener } from '../kit/table.tsx';
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

/** Nothing answers at a host under the reserved `.example`, which sample data has: its picture is never requested. */
export function getPicture({ profile_pic_url: url }: Pick<Creator, 'profile_pic_url'>): string | null {
  const isReserved = url !== null && URL.canParse(url) && new URL(url).hostname.endsWith('.example');
  return isReserved ? null : url;
}

/** The same face as on the roster, if the creator is on it. */
const toFace = (of: Creator) => ({
  name: getName(of),
  email: of.extracted_email,
  handle: of.username,
  picture: getPicture(of),
});

function About({ of }: { of: Creator }) {
  const place = formatPlace(of);
  return (
    <>
      <span className="one-line">
        <span>@{of.username}</span>
        {of.extracted_email && <span className="wide">, email known</span>}
      </span>
      {place && <span className="one-line">{place}</span>}
    </>
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

const formatPlace = ({ city, state, country }: Creator): string =>
  [capitalize(city), capitalize(state), country && countryName(country)].filter(Boolean).join(', ');

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
  /** Buttons that act on the creator. */
  actions: ReactNode;
}

/** One creator in a side panel. */
export function CreatorCard({ creator, onClose, onOpen, actions }: CreatorCardProps) {
  return (
    <Dialog title={creator ? getName(creator) : ''} isOpen={creator !== undefined} onClose={onClose} isSide>
      {creator && (
        <>
          <Shown creator={creator} actions={actions} />
          <Similar to={creator} onOpen={onOpen} onClose={onClose} />
        </>
      )}
    </Dialog>
  );
}

function Shown({ creator, actions }: Pick<CreatorCardProps, 'actions'> & { creator: Creator }) {
  const { data, error, refetch } = useCall('get_directory_creator', { params: { pk: String(creator.pk) } });
  const more = data?.data.pk === creator.pk ? data.data : undefined;
  const fresh = more && data?.meta;
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
          <p className="muted">{[creator.category, formatPlace(creator)].filter(Boolean).join(' · ')}</p>
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
          ['Email', extracted_email && <a href={`mailto:${extracted_email}`}>{extracted_email}</a>],
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
      <div className="popup-foot">{actions}</div>
    </>
  );
}
