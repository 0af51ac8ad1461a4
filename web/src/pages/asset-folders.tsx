import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useAll, useChange } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { FormDialog } from '../kit/form.tsx';
import { number } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button } from '../kit/parts.tsx';

export type Folder = Row<'list_asset_folders'>;
type FolderOption = readonly [value: string, label: string];

/** The folders from the root down to this one. */
function listAncestors(folders: readonly Folder[], id: string | null | undefined): Folder[] {
  const folder = folders.find((one) => one.id === id);
  return folder ? [...listAncestors(folders, folder.parent_id), folder] : [];
}

const ROOT = 'root';

export const NO_FOLDER = { '': 'No folder' } as const;

/** Every folder with its full path. */
export function folderOptions(folders: readonly Folder[], without?: string): FolderOption[] {
  const paths = folders
    .map(({ id }) => listAncestors(folders, id))
    .filter((path) => !path.some(({ id }) => id === without));
  const options = paths.map((path): FolderOption => [path.at(-1)?.id ?? '', path.map(({ name }) => name).join(' / ')]);
  return options.sort(([, a], [, b]) => a.localeCompare(b));
}

export const useFolders = () => useAll('list_asset_folders', {});

/** The current folder and its contents: a way up, the folders below, and the actions for this one. */
export function Folders({ folders, current }: { folders: readonly Folder[]; current: string | undefined }) {
  const path = listAncestors(folders, current);
  const here = path.at(-1);
  const below = folders.filter(({ parent_id }) => parent_id === (here?.id ?? null));
  return (
    <section className="folders" aria-label="Folders">
      <nav aria-label="Folder path">
        <ol className="crumbs">
          {here && (
            <li>
              <Link to="/assets" activeOptions={{ exact: true }}>
                All files
              </Link>
            </li>
          )}
          {path.slice(0, -1).map(({ id, name }) => (
            <li key={id}>
              <Link to="/assets" search={{ folder: id }}>
                {name}
              </Link>
            </li>
          ))}
          <li>
            <span className="folder" aria-current="page">
              {here?.name ?? 'All files'}
            </span>
          </li>
        </ol>
      </nav>
      <ul className="folder-list">
        {below
          .toSorted((a, b) => a.name.localeCompare(b.name))
          .map(({ id, name, asset_count }) => (
            <li key={id}>
              <Link className="folder" to="/assets" search={{ folder: id }}>
                <span className="folder-name">{name}</span>
                <span className="muted">{number(asset_count)}</span>
              </Link>
            </li>
          ))}
        <li>
          <NewFolder parent={here} />
        </li>
        {here && (
          <li className="row">
            <ChangeFolder folder={here} folders={folders} />
            <DeleteFolder folder={here} />
          </li>
        )}
      </ul>
    </section>
  );
}

function NewFolder({ parent }: { parent: Folder | undefined }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button needs="create_asset_folder" kind="quiet" onPress={() => setOpen(true)}>
        New folder
      </Button>
      <OperationDialog
        operation="create_asset_folder"
        title={parent ? `New folder in ${parent.name}` : 'New folder'}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Create"
        fields={['name']}
        fixed={{ parent_id: parent?.id ?? null }}
        shown={['list_asset_folders']}
        onDone={() => setOpen(false)}
      />
    </>
  );
}

function ChangeFolder({ folder, folders }: { folder: Folder; folders: readonly Folder[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button needs="update_asset_folder" onPress={() => setOpen(true)}>
        Rename or move
      </Button>
      <OperationDialog
        operation="update_asset_folder"
        title={`Rename or move ${folder.name}`}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Save"
        params={{ id: folder.id }}
        item={folder}
        fields={[
          'name',
          {
            name: 'parent_id',
            label: 'Parent folder',
            options: folderOptions(folders, folder.id),
            labels: NO_FOLDER,
          },
        ]}
        shown={['list_asset_folders']}
        onDone={() => setOpen(false)}
      />
    </>
  );
}

function DeleteFolder({ folder }: { folder: Folder }) {
  const remove = useChange('delete_asset_folder', ['list_asset_folders']);
  const navigate = useNavigate();
  return (
    <Confirm
      needs="delete_asset_folder"
      label="Delete the folder"
      title={`Delete ${folder.name}?`}
      action="Delete"
      onConfirm={async () => {
        await remove.mutateAsync({ params: { id: folder.id } });
        await navigate({ to: '/assets', search: folder.parent_id === null ? {} : { folder: folder.parent_id } });
      }}
    >
      <p>Only an empty folder can be deleted. Move its contents first.</p>
    </Confirm>
  );
}

/** For the files that are selected in the list. */
export function MoveFiles(props: { ids: readonly string[]; folders: readonly Folder[]; onMoved: () => void }) {
  const { ids, folders, onMoved } = props;
  const update = useChange('update_assets', ['list_assets', 'list_asset_folders']);
  const [isOpen, setOpen] = useState(false);
  if (ids.length === 0) return null;
  return (
    <div className="bar">
      <span>
        {number(ids.length)} {ids.length === 1 ? 'file' : 'files'} selected
      </span>
      <Button needs="update_assets" kind="primary" onPress={() => setOpen(true)}>
        Move to a folder
      </Button>
      <FormDialog
        title={`Move ${number(ids.length)} ${ids.length === 1 ? 'file' : 'files'}`}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Move"
        fields={[
          {
            name: 'folder_id',
            label: 'Folder',
            kind: 'select',
            isRequired: true,
            options: [[ROOT, NO_FOLDER['']], ...folderOptions(folders)],
          },
        ]}
        onSubmit={async (values) => {
          // One call takes at most this many.
          for (let from = 0; from < ids.length; from += 100) {
            await update.mutateAsync({
              body: {
                ids: ids.slice(from, from + 100),
                folder_id: values.text('folder_id') === ROOT ? null : values.text('folder_id'),
              },
            });
          }
          setOpen(false);
          onMoved();
        }}
      />
    </div>
  );
}
