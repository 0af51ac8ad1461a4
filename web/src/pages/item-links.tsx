import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCall } from '../call/use.ts';
import { useNamed } from '../kit/creator-face.tsx';
import { Face } from '../kit/face.tsx';
import { IfMay, oneLine } from '../kit/parts.tsx';

/** A link to a creator's page, by roster id, creator id or email address. */
export function CreatorLink({ id, children, className }: { id: string; children: ReactNode; className?: string }) {
  return (
    <Link to="/creators/$id" params={{ id }} search={{}} className={className}>
      {children}
    </Link>
  );
}

interface Named {
  creator_name?: string | null;
  creator_email: string | null;
}

/** A creator's name, which leads to their page; their address only if no name is known. */
export function CreatorName({ of: { creator_name, creator_email } }: { of: Named }) {
  const roster = useNamed(creator_name ? null : creator_email);
  const name = creator_name ?? roster.name ?? creator_email;
  if (roster.isReading) return <span className="bone name" aria-busy />;
  if (name === null) return '–';
  return creator_email === null ? name : <CreatorLink id={creator_email}>{name}</CreatorLink>;
}

/** A creator in a table: picture, name and a second line. */
export function CreatorCell(props: { id: string; name: string; url: string | null; second: ReactNode }) {
  const { id, name, url, second } = props;
  return (
    <div className="person">
      <Face name={name} url={url} />
      <div>
        <CreatorLink id={id} className="link">
          {name}
        </CreatorLink>
        <span {...oneLine(second, 'second')}>{second}</span>
      </div>
    </div>
  );
}

export function CampaignLink({ id, children, className }: { id: string; children: ReactNode; className?: string }) {
  return (
    <Link to="/campaigns/$id" params={{ id }} search={{}} className={className}>
      {children}
    </Link>
  );
}

/** A campaign's title; undefined while it is read. */
function useCampaignTitle(id: string | null): string | undefined {
  const { data, error } = useCall('get_campaign', { params: { id: id ?? '' } }, { enabled: id !== null });
  if (error) return 'Campaign';
  return data?.data.id === id ? data?.data.title : undefined;
}

/** A campaign's title, which leads to its page. */
export function CampaignName({ id }: { id: string | null }) {
  const title = useCampaignTitle(id);
  if (id === null) return '–';
  return title === undefined ? <span className="bone name" /> : <CampaignLink id={id}>{title}</CampaignLink>;
}

/** The same as text, for the second line of a row that opens something else. */
export const CampaignTitle = ({ id }: { id: string | null }) => useCampaignTitle(id) ?? null;

const FORMS = [
  ['/contracts', 'Draft a contract', 'create_contract'],
  ['/briefs', 'Write a brief', 'create_brief'],
  ['/deliverables', 'Request a deliverable', 'create_deliverable'],
  ['/links', 'Create a link or code', 'create_affiliate_link'],
  ['/shipments', 'Add a shipment', 'create_shipment'],
] as const;

/** The forms of other pages, filled in for a creator or a campaign. */
export function FormLinks({ of }: { of: { creator_email: string } | { campaign_id: string } }) {
  return FORMS.map(([to, label, needs]) => (
    <IfMay key={to} needs={needs}>
      <Link to={to} search={{ ...of, dialog: 'create' }} className="button plain">
        {label}
      </Link>
    </IfMay>
  ));
}

/** A handle, or another label, which leads to the profile. */
export const toProfileLink = (
  host: 'instagram.com/' | 'tiktok.com/@',
  handle: string | null,
  label: string = `@${handle}`,
) =>
  handle && (
    <a href={`https://www.${host}${encodeURIComponent(handle)}`} target="_blank" rel="noreferrer">
      {label}
    </a>
  );
