import { Link } from '@tanstack/react-router';
import { useCall } from '../call/use.ts';
import { Face } from '../kit/face.tsx';
import { compact, words } from '../kit/format.ts';
import { type Creator, getName, getPicture } from './directory-creator.tsx';

const SHOWN = 5;

interface SimilarProps {
  to: Creator;
  onOpen: (creator: Creator) => void;
  onClose: () => void;
}

/** `niche:trail running` as "Trail running". */
const sharedIn = (shared: readonly string[]) =>
  [...new Set(shared.map((one) => words(one.slice(one.indexOf(':') + 1).replaceAll('-', ' '))))].slice(0, 3).join(', ');

/** The creators most like this one, and the way to all of them. */
export function Similar({ to, onOpen, onClose }: SimilarProps) {
  const seed = String(to.pk);
  const { data, isPlaceholderData } = useCall('search_creators', { query: { similar_to: seed, limit: SHOWN } });
  if (!data || isPlaceholderData || data.data.length === 0) return null;
  const sharedByPk = new Map(data.meta.similarity?.map((one) => [one.pk, sharedIn(one.shared)]));
  return (
    <section className="stack" aria-label="Similar creators">
      <h3>Similar creators</h3>
      <ul className="picks">
        {data.data.map((creator) => (
          <li key={creator.pk} className="pick">
            <Face name={getName(creator)} url={getPicture(creator)} />
            <div>
              <button type="button" className="link" onClick={() => onOpen(creator)}>
                {getName(creator)}
              </button>
              <span className="block small muted">{sharedByPk.get(creator.pk)}</span>
            </div>
            <span className="figure">{compact(creator.follower_count)}</span>
          </li>
        ))}
      </ul>
      <Link className="link" to="/directory" search={{ similar_to: seed }} onClick={onClose}>
        Show all similar creators
      </Link>
    </section>
  );
}
