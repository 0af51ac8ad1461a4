import { useQueryClient } from '@tanstack/react-query';
import { useChange } from './call/use.ts';
import { Confirm } from './kit/dialog.tsx';
import { useSay } from './kit/toast.tsx';

/** Asks before it takes the sample away. */
export default function SampleRemoval() {
  const cache = useQueryClient();
  const remove = useChange('remove_sample', []);
  const say = useSay();
  return (
    <Confirm
      startsOpen
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
        Every creator, campaign, order and payout is deleted, also what you have added since. People, keys and settings
        stay, and so do the name and logo if you have changed them.
      </p>
    </Confirm>
  );
}
