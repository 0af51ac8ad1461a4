import { useState } from 'react';
import { callCsv, type OperationId, type Query } from '../call/call.ts';
import { Button } from './parts.tsx';
import { useSay } from './toast.tsx';

/** Saves bytes as a file of the browser. */
export function saveFile(bytes: Blob, name: string): void {
  const url = URL.createObjectURL(bytes);
  const link = document.createElement('a');
  Object.assign(link, { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}

/** Saves a value as an indented JSON file. */
export function saveJson(value: unknown, name: string): void {
  saveFile(new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }), name);
}

interface DownloadProps<Id extends OperationId> {
  id: Id;
  query: Query<Id>;
  name: string;
  /** The layout for another service; by default, the list's own columns. */
  profile?: string;
  label?: string;
  /** The ids in the path. */
  params?: object;
}

/** Downloads the whole list, with the current filters, as a file. */
export function Download<Id extends OperationId>({ id, query, name, profile, label, params }: DownloadProps<Id>) {
  const say = useSay();
  const [isBusy, setBusy] = useState(false);
  async function download() {
    setBusy(true);
    try {
      saveFile(await callCsv(id, query, profile, params), name);
    } catch (error) {
      say(error instanceof Error ? error.message : 'The file could not be read.');
    } finally {
      setBusy(false);
    }
  }
  return (
    <Button isBusy={isBusy} onPress={() => void download()}>
      {label ?? 'Download CSV'}
    </Button>
  );
}
