import type { Row } from '../call/call.ts';
import { shortDay } from '../kit/format.ts';
import { Badge } from '../kit/parts.tsx';

/** The state of a store in a few words. */
export function StoreState({ of: { status, webhook_health: health } }: { of: Row<'list_affiliate_stores'> }) {
  if (status !== 'connected' || health.status === 'ok') return <Badge state={status} />;
  if (health.status === 'failing') return <Badge state="failing" />;
  if (health.status === 'disabled') return <span className="badge bad">Webhooks off</span>;
  return (
    <span className="badge wait">
      {health.last_received_at === null
        ? 'Nothing received yet'
        : `Nothing received since ${shortDay(health.last_received_at)}`}
    </span>
  );
}
