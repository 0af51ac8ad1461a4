import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { uploadTo } from '../call/call.ts';
import { Dialog } from '../kit/dialog.tsx';
import { FileChoice } from '../kit/file-choice.tsx';
import { type Field, Form, type Values } from '../kit/form.tsx';
import { counted } from '../kit/format.ts';
import { useSay } from '../kit/toast.tsx';
import { type Folder, folderOptions, NO_FOLDER } from './asset-folders.tsx';

interface UploadDialogProps {
  isOpen: boolean;
  onClose: () => void;
  folders: readonly Folder[];
  /** The open folder, which the form begins with. */
  folder: string | undefined;
}

/** Uploads files with what holds for all of them. Those that fail stay chosen, with the reason. */
export function UploadDialog({ isOpen, onClose, folders, folder }: UploadDialogProps) {
  const cache = useQueryClient();
  const say = useSay();
  const [files, setFiles] = useState<readonly File[]>([]);
  const [doneCount, setDoneCount] = useState<number>();
  const fields: readonly Field[] = [
    { name: 'creator_email', label: 'Creator', kind: 'creator' },
    { name: 'campaign_id', label: 'Campaign', kind: 'campaign' },
    {
      name: 'folder_id',
      label: 'Folder',
      kind: 'select',
      options: [['', NO_FOLDER['']], ...folderOptions(folders)],
      value: folder ?? '',
    },
    { name: 'usage_rights', label: 'Usage rights', hint: 'For example, “Organic posts on our own channels”.' },
    { name: 'rights_expires_at', label: 'Rights end on', kind: 'date' },
  ];
  const close = () => {
    setFiles([]);
    onClose();
  };
  async function upload(values: Values) {
    if (files.length === 0) throw new Error('Choose at least one file.');
    const failures: { file: File; why: string }[] = [];
    for (const [i, file] of files.entries()) {
      setDoneCount(i);
      const form = new FormData();
      for (const { name } of fields) if (values.some(name)) form.set(name, values.text(name));
      form.set('file', file);
      await uploadTo('upload_asset', form).catch((error: Error) => failures.push({ file, why: error.message }));
    }
    setDoneCount(undefined);
    await cache.invalidateQueries({ queryKey: ['list_assets'] });
    await cache.invalidateQueries({ queryKey: ['list_asset_folders'] });
    const uploadedCount = files.length - failures.length;
    if (uploadedCount > 0) say(`${counted(uploadedCount, 'file')} uploaded.`);
    if (failures.length === 0) return close();
    setFiles(failures.map(({ file }) => file));
    throw new Error(failures.map(({ file, why }) => `${file.name}: ${why}`).join(' '));
  }
  const progress = doneCount !== undefined && `Uploading ${doneCount + 1} of ${files.length}`;
  return (
    <Dialog title="Upload files" hint="Images, videos, audio and documents." isOpen={isOpen} onClose={close}>
      <FileChoice label="Files" files={files} onChoose={setFiles} isMultiple />
      <Form
        fields={fields}
        action={progress || (files.length === 0 ? 'Upload' : `Upload ${counted(files.length, 'file')}`)}
        onCancel={close}
        onSubmit={upload}
      />
    </Dialog>
  );
}
