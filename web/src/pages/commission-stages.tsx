import { Link } from '@tanstack/react-router';
import type { Query } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { money, number } from '../kit/format.ts';
import { Stat, Stats } from '../kit/parts.tsx';
import { sumUp } from '../kit/totals.tsx';

type CommissionsQuery = Query<'list_affiliate_commissions'>;
type Narrowed = Pick<CommissionsQuery, 'creator_email' | 'campaign_id'>;
type Stage = Pick<CommissionsQuery, 'status' | 'approvable'>;

const READY: Stage = { status: 'pending', approvable: true };
const PENDING: Stage = { status: 'pending', approvable: false };

const useStage = (of: Narrowed, stage: Stage) =>
  useCall('list_affiliate_commissions', { query: { ...of, ...stage, totals: true, limit: 1 } });

/** The commissions that a review can approve now. */
export const useReadyCommissions = (of: Narrowed) => useStage(of, READY);

interface StageProps {
  label: string;
  of: Narrowed;
  stage: Stage;
  isOn: boolean;
  /** Stands after the number of commissions. */
  text: string;
  why?: string;
  /** The number instead of the sum, where no money is meant. */
  isCount?: boolean;
}

/** A stage with its sum. It narrows the list to itself, and shows all again once it is chosen. */
function StageStat({ label, of, stage, isOn, text, why, isCount = false }: StageProps) {
  const brandCurrency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const { data } = useStage(of, stage);
  const count = data && number(data.pagination.total);
  const value = !data ? '–' : isCount ? count : sumUp(data.totals ?? []) || money(0, brandCurrency);
  const { status, approvable } = stage;
  const choice = isOn ? {} : { status, approvable: approvable === undefined ? undefined : String(approvable) };
  return (
    <Stat
      label={label}
      value={
        <Link
          to="/commissions"
          search={{ ...of, ...choice }}
          aria-label={`${label}, ${value}`}
          aria-current={isOn || undefined}
        >
          {value}
        </Link>
      }
      note={isCount ? text : data && `${count} ${text}`}
      why={why}
    />
  );
}

interface StagesProps extends Stage {
  of: Narrowed;
}

/** The money at each stage, of the chosen creator and campaign if there are any, as the tabs of the list. */
export function CommissionStages({ of, status, approvable }: StagesProps) {
  const isPending = status === undefined ? approvable !== undefined : status === 'pending';
  return (
    <nav aria-label="Commissions by status" className="stage-tabs">
      <Stats isBrief>
        <StageStat
          label="All"
          of={of}
          stage={{}}
          isOn={status === undefined && approvable === undefined}
          text="commissions"
        />
        <StageStat
          label="Ready to approve"
          of={of}
          stage={READY}
          isOn={isPending && approvable !== false}
          text="past review"
        />
        <StageStat label="Pending" of={of} stage={PENDING} isOn={isPending && approvable !== true} text="in review" />
        <StageStat
          label="Approved"
          of={of}
          stage={{ status: 'approved' }}
          isOn={status === 'approved'}
          text="to be paid"
          why="Commissions that no payout has paid yet, of all time. The amount due on Payouts is their sum, less refunds of paid commissions and money paid in advance."
        />
        <StageStat label="Paid" of={of} stage={{ status: 'paid' }} isOn={status === 'paid'} text="paid out" />
        <StageStat
          label="Rejected"
          of={of}
          stage={{ status: 'rejected' }}
          isOn={status === 'rejected'}
          text="No commission paid"
          isCount
        />
      </Stats>
    </nav>
  );
}
