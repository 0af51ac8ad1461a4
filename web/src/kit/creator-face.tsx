import { useQuery } from '@tanstack/react-query';
import { call } from '../call/call.ts';
import { Face } from './face.tsx';

/** Pictures of the newest creators are read once; of others, initials are shown. */
const PICTURED = 100;
const FRESH_MS = 5 * 60_000;

async function readPictures(): Promise<ReadonlyMap<string, string | null>> {
  const { data } = await call('list_roster', { query: { limit: PICTURED } });
  return new Map(data.map(({ creator_email, pfp_url }) => [creator_email ?? '', pfp_url]));
}

/** The face of a creator in a list that knows them by name and e-mail address only. */
export function CreatorFace({ name, email }: { name: string; email: string | null }) {
  const pictures = useQuery({ queryKey: ['pictures'], queryFn: readPictures, staleTime: FRESH_MS });
  return <Face name={name} url={pictures.data?.get(email ?? '') ?? null} />;
}
