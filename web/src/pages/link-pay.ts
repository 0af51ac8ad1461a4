import { useCall, useFirst } from '../call/use.ts';
import type { Campaign } from './campaign-edit.tsx';

interface LinkPay {
  /** The deal in a sentence; undefined while it is read. */
  text: string | undefined;
  /** True if links earn nothing unless they have terms of their own. */
  isNothing: boolean;
}

/** The pay of a campaign's links and codes: by its own terms, the brand's, or the brand's default commission. */
export function useLinkPay({ id, terms }: Pick<Campaign, 'id' | 'terms'>): LinkPay {
  const isOwn = terms !== null;
  const own = useFirst('list_terms', { campaign_id: id }, { limit: 1, isEnabled: isOwn }).data?.data[0]?.summary;
  const rules = useCall('get_attribution_rules', {}, { enabled: !isOwn }).data?.data;
  const rate = useCall('get_brand', {}, { enabled: !isOwn }).data?.data.settings.default_commission_rate;
  if (isOwn) return { text: own, isNothing: false };
  if (rules === undefined || rate === undefined) return { text: undefined, isNothing: false };
  const isNothing = rules.terms === null && rate === 0;
  const text = isNothing
    ? 'Nothing yet, unless a link or a group has its own terms.'
    : 'The brand’s terms, unless a link or a group has its own.';
  return { text, isNothing };
}
