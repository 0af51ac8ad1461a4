import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useChange } from './call/use.ts';
import { Confirm } from './kit/dialog.tsx';
import { useSay } from './kit/toast.tsx';

/** Says that what the app shows is a sample, and takes it away. */
export default function SampleNotice() {
  const cache = useQueryClient();
  const remove = useChange('remove_sample', []);
  const say = useSay();
  return (
    <aside className="notice" aria-label="Sample data">
      <p>
        <strong className="nowrap">This is sample data</strong>
        <span className="wide">
          : 90 days of a made-up shop. Begin with its <Link to="/roster">creators</Link>,{' '}
          <Link to="/campaigns">campaigns</Link> or <Link to="/analytics">sales</Link>.
        </span>
      </p>
      <Confirm
        needs="remove_sample"
        label="Remove the sample"
        title="Remove the sample data?"
        action="Remove everything"
        onConfirm={async () => {
          await remove.mutateAsync({});
          await cache.invalidateQueries();
          say('The sample data is removed.');
        }}
      >
        <p>
          Every creator, campaign, order and payout is deleted, also what you have added since. People, keys and
          settings stay.
        </p>
      </Confirm>
    </aside>
  );
}
