import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { OperationForm } from '../kit/operation-form.tsx';
import { Copy } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';

type CreatedShare = Answer<'share_shipments'>;

/** Creates a public page of the parcels, for those who pack them. */
export function ShareDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const revoke = useChange('revoke_shipment_share', []);
  const say = useSay();
  const [share, setShare] = useState<CreatedShare>();
  const close = () => {
    setShare(undefined);
    onClose();
  };
  return (
    <Dialog
      title="Share a tracking page"
      hint="Anyone with the address sees the state of each parcel, by name or handle, without email addresses and streets."
      isOpen={isOpen}
      onClose={close}
    >
      {share ? (
        <>
          <code className="secret">{share.url}</code>
          <div className="popup-foot">
            <Confirm
              label="Take the page down"
              title="Take this page down?"
              action="Take down"
              onConfirm={async () => {
                await revoke.mutateAsync({ params: { shareId: share.shareId } });
                say('The page is gone.');
                close();
              }}
            >
              <p>Its address stops working at once.</p>
            </Confirm>
            <Copy text={share.url} label="Copy the address" />
            <a className="button plain" href={share.url} target="_blank" rel="noreferrer">
              Open the page
            </a>
          </div>
        </>
      ) : (
        <OperationForm
          operation="share_shipments"
          action="Create the page"
          onCancel={close}
          start={{ title: 'Our parcels' }}
          fields={[
            { name: 'title', isRequired: true },
            { name: 'campaignId', hint: 'Then only its parcels.' },
          ]}
          shown={[]}
          onDone={setShare}
        />
      )}
    </Dialog>
  );
}
