import { useParams } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { datesIn } from '../../../src/kit/values/format.ts';
import { useCall } from '../call/use.ts';
import { Button, Failure, Loading, PageHead } from '../kit/parts.tsx';

const BLOCKS = 'h2, p, li';

interface Block {
  key: string;
  tag: string;
  text: string;
}

/** The document's headings, paragraphs and list items. Its styles are left out: the app has its own. */
function parseBlocks(html: string): Block[] {
  const bare = html.replace(/<style[\s\S]*?<\/style>/g, '');
  const { body } = new DOMParser().parseFromString(bare, 'text/html');
  return [...body.querySelectorAll(BLOCKS)].map((element, i) => ({
    key: `${i}`,
    tag: element.localName,
    text: element.textContent ?? '',
  }));
}

/** A text in a frame of its own, which the keyboard scrolls, too. */
export function TextPreview({ children }: { children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section className="text-preview stack" tabIndex={0} aria-label="Text of the contract">
      {children}
    </section>
  );
}

/** A heading or paragraph, or the items of one list. */
function Part({ of: blocks }: { of: readonly Block[] }) {
  const [first] = blocks;
  if (first?.tag === 'h2') return <h2>{first.text}</h2>;
  if (first?.tag === 'p') return <p className="biography">{first.text}</p>;
  return (
    <ul className="points">
      {blocks.map(({ key, text }) => (
        <li key={key}>{text}</li>
      ))}
    </ul>
  );
}

/** Each block by itself, but a list's items together. */
function groupBlocks(blocks: readonly Block[]): Block[][] {
  const parts: Block[][] = [];
  for (const block of blocks) {
    const last = parts.at(-1);
    if (block.tag === 'li' && last?.[0]?.tag === 'li') last.push(block);
    else parts.push([block]);
  }
  return parts;
}

/** As the creator's page says it: the text above has its dates in that style too, and is part of what was signed. */
const timeText = (at: string) => `${datesIn('UTC').longTime(at)} UTC`;

/** The text of a contract, block by block. */
export function ContractText({ html }: { html: string }) {
  const blocks = useMemo(() => parseBlocks(html), [html]);
  return groupBlocks(blocks).map((part) => <Part key={part[0]?.key} of={part} />);
}

/** The text that the creator signs, with the signature, to read and print. */
export function ContractDocument() {
  const { id = '' } = useParams({ strict: false });
  const query = useCall('get_contract_document', { params: { id } });
  const title = useCall('get_contract', { params: { id } }).data?.data.title ?? 'Contract';
  const document = query.data?.data;
  return (
    <>
      <PageHead title={title} hint={document?.signed_at ? 'Signed contract' : 'Contract as it was sent'}>
        {document && <Button onPress={() => window.print()}>Print</Button>}
      </PageHead>
      {query.error && <Failure error={query.error} again={() => void query.refetch()} />}
      {!document && !query.error && <Loading />}
      {document && (
        <article className="card paper">
          <ContractText html={document.html} />
          <footer>
            <p className="strong">
              {document.signed_at === null
                ? 'Not signed yet.'
                : `Signed by ${document.signer_name ?? 'the creator'} on ${timeText(document.signed_at)}.`}
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
