import { useQuery } from '@tanstack/react-query';
import { call } from '../call/call.ts';
import { useFirst } from '../call/use.ts';
import { Face } from './face.tsx';

/** Names and pictures of the newest creators are read once, because most lists are about them. */
const NEWEST = 100;
const FRESH_MS = 5 * 60_000;

interface NewestFace {
  name: string | null;
  url: string | null;
}

const toHandleKey = (handle: string) => `@${handle.toLowerCase()}`;

async function readNewest(): Promise<ReadonlyMap<string, NewestFace>> {
  const { data } = await call('list_roster', { query: { limit: NEWEST } });
  return new Map(
    data.flatMap(({ creator_email, creator_name, ig_handle, pfp_url }) => {
      const newest = { name: creator_name, url: pfp_url };
      return [creator_email, ig_handle && toHandleKey(ig_handle)].flatMap((key) =>
        key ? [[key, newest] as const] : [],
      );
    }),
  );
}

const useNewest = (isEnabled: boolean) =>
  useQuery({ queryKey: ['newest creators'], queryFn: readNewest, staleTime: FRESH_MS, enabled: isEnabled });

/** The name of a creator that an item knows by their address only, or that it is being read; null asks for none. */
export function useNamed(email: string | null): { name: string | undefined; isReading: boolean } {
  const newest = useNewest(email !== null);
  const knownCreator = newest.data?.get(email ?? '');
  const isEnabled = email !== null && newest.data !== undefined && knownCreator === undefined;
  const rosterEntry = useFirst('list_roster', { creator_email: email ?? '' }, { limit: 1, isEnabled });
  const isAsking = isEnabled && rosterEntry.data === undefined && !rosterEntry.error;
  const isReading = email !== null && (newest.isLoading || isAsking);
  return { name: knownCreator?.name ?? rosterEntry.data?.data[0]?.creator_name ?? undefined, isReading };
}

export const useCreatorName = (email: string | null) => useNamed(email).name;

interface CreatorFaceProps {
  name: string;
  email: string | null;
  /** Their handle on Instagram, where a list knows no address. */
  handle?: string;
  /** Shown if the newest creators have none. */
  picture?: string | null | undefined;
  isLarge?: boolean;
}

/** The face of a creator in a list that knows them by name and email address only; of older ones, their initials. */
export function CreatorFace({ name, email, handle = '', picture = null, isLarge = false }: CreatorFaceProps) {
  const faces = useNewest(true).data;
  const known = faces?.get(email ?? '') ?? faces?.get(toHandleKey(handle));
  return <Face name={name} url={known?.url ?? picture} isLarge={isLarge} />;
}

interface CreatorFacesProps {
  of: readonly { creator_name: string | null; creator_email: string | null }[];
}

/** Small faces of a few creators, beside the number of all. */
export function CreatorFaces({ of }: CreatorFacesProps) {
  return (
    <span className="faces wide">
      {of.map(({ creator_name: name, creator_email: email }) => (
        <CreatorFace key={email ?? name} name={name ?? email ?? '?'} email={email} />
      ))}
    </span>
  );
}
