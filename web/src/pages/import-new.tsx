import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { uploadTo } from '../call/call.ts';
import { useAll, useFirst } from '../call/use.ts';
import { Button, PageHead } from '../kit/parts.tsx';
import { type ImportKind, KINDS } from './imports.tsx';

const isKind = (value: unknown): value is ImportKind => KINDS.some(([kind]) => kind === value);

/** Names that earlier files of the kind came under. */
function useSources(of: ImportKind): string[] {
  const { data } = useFirst('list_imports', { of }, { limit: 50 });
  return [...new Set((data?.data ?? []).map(({ source }) => source))];
}

/** As the API calls a source without a name. */
const DEFAULT_SOURCES: Readonly<Record<string, string>> = {
  orders: 'Past orders',
  commissions: 'Before Rollcall',
  reconciliation: 'Reconciliation',
};

/** The first step: a file, what it has, and where it comes from. */
export function NewImport() {
  const id = useId();
  const { of: asked }: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const of = isKind(asked) ? asked : 'orders';
  const sources = useSources(of);
  const [source, setSource] = useState('');
  const [store, setStore] = useState('');
  const stores = useAll('list_affiliate_stores', {}).data ?? [];
  const [file, setFile] = useState<File>();
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function send() {
    if (!file) return setFailure('Choose a file.');
    const form = new FormData();
    form.set('of', of);
    if (source.trim() !== '') form.set('source', source.trim());
    if (of === 'reconciliation' && store !== '') form.set('integration_id', store);
    form.set('file', file);
    setBusy(true);
    setFailure(undefined);
    try {
      const { data } = await uploadTo('create_import', form);
      await navigate({ to: '/imports/$id', params: { id: data.id }, search: {} });
    } catch (error) {
      setFailure(error instanceof Error ? error.message : 'The file could not be sent.');
      setBusy(false);
    }
  }

  return (
    <>
      <PageHead title="Import a file" hint="Nothing is recorded before you have seen what the file has." />
      <form
        className="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <div className="field">
          <label htmlFor={`${id}-of`}>Contents</label>
          <select
            id={`${id}-of`}
            value={of}
            onChange={({ target }) => void navigate({ to: '.', search: { of: target.value }, replace: true })}
          >
            {KINDS.map(([kind, name]) => (
              <option key={kind} value={kind}>
                {name}
              </option>
            ))}
          </select>
        </div>
        {of === 'reconciliation' && (
          <div className="field">
            <label htmlFor={`${id}-store`}>Store</label>
            <select id={`${id}-store`} value={store} onChange={({ target }) => setStore(target.value)}>
              <option value="">The only one</option>
              {stores.map(({ id: key, name }) => (
                <option key={key} value={key}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        )}
        <div className="field">
          <label htmlFor={`${id}-file`}>File</label>
          <input
            id={`${id}-file`}
            type="file"
            accept=".csv,.tsv,.txt,.xlsx,.gz,.zip"
            aria-describedby={`${id}-file-hint`}
            aria-invalid={failure !== undefined}
            onChange={({ target }) => {
              setFile(target.files?.[0]);
              setFailure(undefined);
            }}
          />
          <p className="hint" id={`${id}-file-hint`}>
            CSV, TSV or .xlsx as the other tool made it, up to 200 MB.
          </p>
        </div>
        <div className="field">
          <label htmlFor={`${id}-source`}>Where it comes from</label>
          <input
            id={`${id}-source`}
            list={`${id}-sources`}
            maxLength={100}
            value={source}
            placeholder="For example, Shopify"
            aria-describedby={`${id}-source-hint`}
            onChange={({ target }) => setSource(target.value)}
          />
          <datalist id={`${id}-sources`}>
            {sources.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <p className="hint" id={`${id}-source-hint`}>
            A shop or a tool. What one of them sent before is recorded once. Left blank, it is called “
            {DEFAULT_SOURCES[of] ?? 'Import'}”.
          </p>
        </div>
        {failure && (
          <p className="problem" role="alert">
            {failure}
          </p>
        )}
        <div className="actions">
          <Button type="submit" kind="primary" isBusy={isBusy}>
            Read the file
          </Button>
        </div>
      </form>
    </>
  );
}
