import { useState } from 'react';
import { CallError } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { Button } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';
import { type Creator, getName } from './directory-creator.tsx';

const creators = (count: number) => (count === 1 ? '1 creator' : `${count} creators`);

/** Adds creators to the roster one after another, and says how many are new there. */
export function AddToRoster({
  of,
  label = 'Add to the roster',
  onDone,
}: {
  of: readonly Creator[];
  label?: string;
  onDone: () => void;
}) {
  const add = useChange('add_to_roster_by_handle', ['list_roster', 'list_listed_creators']);
  const say = useSay();
  const [doneCount, setDoneCount] = useState<number>();
  async function addAll() {
    let addedCount = 0;
    let knownCount = 0;
    for (const [i, creator] of of.entries()) {
      setDoneCount(i);
      const { username, full_name, extracted_email } = creator;
      try {
        await add.mutateAsync({ body: { ig_handle: username, name: full_name, creator_email: extracted_email } });
        addedCount += 1;
      } catch (error) {
        if (!(error instanceof CallError) || error.code !== 'ALREADY_ON_ROSTER') throw error;
        knownCount += 1;
      }
    }
    const [only] = of;
    if (of.length === 1 && only) {
      return say(
        knownCount ? `${getName(only)} is already on the roster.` : `${getName(only)} was added to the roster.`,
      );
    }
    say(`${creators(addedCount)} added to the roster.${knownCount ? ` ${knownCount} already there.` : ''}`);
  }
  async function press() {
    try {
      await addAll();
      onDone();
    } catch (error) {
      say(error instanceof Error ? error.message : 'Something went wrong. Try again.');
    } finally {
      setDoneCount(undefined);
    }
  }
  const isMany = of.length > 1;
  return (
    <Button
      needs="add_to_roster_by_handle"
      kind="primary"
      isBusy={doneCount !== undefined}
      isDisabled={of.length === 0}
      onPress={() => void press()}
    >
      {isMany && doneCount !== undefined ? `Adding ${doneCount + 1} of ${of.length}` : label}
    </Button>
  );
}
