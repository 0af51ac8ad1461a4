import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useCall } from '../call/use.ts';
import { time } from '../kit/format.ts';
import { Button, Failure, Loading, PageHead } from '../kit/parts.tsx';

const BLOCKS = 'h2, p, li';

interface Block {
  key: string;
  tag: string;
  text: string;
}

/** The document's headings, paragraphs and list items. Its styles are left out: the app has its own. */
function blocksOf(html: string): Block[] {
  const bare = html.replace(/<style[\s\S]*?<\/style>/g, '');
  const { body } = new DOMParser().parseFromString(bare, 'text/html');
  return [...body.querySelectorAll(BLOCKS)].map((element, i) => ({
    key: `${i}`,
    tag: element.localName,
    text: element.textContent ?? '',
  }));
}

function Line({ of: { tag, text } }: { of: Block }) {
  if (tag === 'h2') return <h2>{text}</h2>;
  return <p className={tag === 'li' ? 'point' : 'biography'}>{text}</p>;
}

/** The text that the creator signs, with the signature, to read and print. */
export function ContractDocument() {
  const { id = '' } = useParams({ strict: false });
  const found = useCall('get_contract_document', { params: { id } });
  const title = useCall('get_contract', { params: { id } }).data?.data.title ?? 'Contract';
  const document = found.data?.data;
  const blocks = useMemo(() => (document === undefined ? [] : blocksOf(document.html)), [document]);
  return (
    <>
      <PageHead title={title} hint={document?.signed_at ? 'Signed contract' : 'Contract as it was sent'}>
        {document && <Button onPress={() => window.print()}>Print</Button>}
      </PageHead>
      {found.error && <Failure error={found.error} again={() => void found.refetch()} />}
      {!document && !found.error && <Loading />}
      {document && (
        <article className="card paper">
          {blocks.map((block) => (
            <Line key={block.key} of={block} />
          ))}
          <footer>
            <p className="strong">
              {document.signed_at === null
                ? 'Not signed yet.'
                : `Signed by ${document.signer_name ?? 'the creator'} on ${time(document.signed_at)}.`}
            </p>
            <p className="small muted">
              Fingerprint of the text (SHA-256): <code>{document.sha256}</code>
            </p>
          </footer>
        </article>
      )}
    </>
  );
}
