import { Link } from '@tanstack/react-router';
import { month, words } from '../kit/format.ts';
import { CampaignLink, CreatorLink } from './item-links.tsx';

type RowDimension = 'creator' | 'campaign' | 'link' | 'store' | 'month';

/** Rows without a key, by what they lack. */
const NONE: Readonly<Record<RowDimension, string>> = {
  creator: 'No creator',
  campaign: 'No campaign',
  link: 'No link or code',
  store: 'No store',
  month: 'No month',
};

/** The head of their column. */
export const toHead = (by: RowDimension): string => (by === 'link' ? 'Link or code' : words(by));

interface RowNameProps {
  by: RowDimension;
  of: { key: string | null; label: string | null };
}

/** Names the subject of a row of figures, and links to it. */
export function RowName({ by, of: { key, label } }: RowNameProps) {
  if (key === null) return <span className="muted">{NONE[by]}</span>;
  const name = label ?? key;
  if (by === 'creator') return <CreatorLink id={key}>{name}</CreatorLink>;
  if (by === 'campaign') return <CampaignLink id={key}>{name}</CampaignLink>;
  if (by === 'month') return month(key);
  if (by === 'store') return name;
  return (
    <Link to="/links" search={{ open: key }}>
      {name}
    </Link>
  );
}
