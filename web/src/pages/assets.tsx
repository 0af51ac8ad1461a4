import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Row, uploadTo } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useMay } from '../call/may.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { CAMPAIGN_FILTER, CREATOR_FILTER, Filters, findChoice, sortIn, useFilters } from '../kit/filters.tsx';
import { type Field, FieldRow, Values } from '../kit/form.tsx';
import { bytes, day, words } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationForm } from '../kit/operation-form.tsx';
import { Badge, Button, Empty, Facts, Failure, PageHead } from '../kit/parts.tsx';
import { useSelection } from '../kit/selection.ts';
import { type Column, Table } from '../kit/table.tsx';
import { useIsWide } from '../kit/wide.ts';
import { Folders, folderOptions, MoveFiles, NO_FOLDER, useFolders } from './asset-folders.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';

const TYPES = listChoices('list_assets', 'type');
const RIGHTS = listChoices('list_assets', 'rights');
type Asset = Row<'list_assets'>;

/** The file's picture, or its ending where it has none. */
function Thumbnail({ of: { thumbnail_url, name } }: { of: Asset }) {
  if (thumbnail_url) return <img className="thumbnail" src={thumbnail_url} alt="" loading="lazy" />;
  return (
    <span className="thumbnail" aria-hidden>
      {/\.(\w{1,4})$/.exec(name)?.[1] ?? ''}
    </span>
  );
}

/** The rights to a file in words, and until when they last. */
function Rights({ of: { usage_rights, rights_expires_at: end } }: { of: Asset }) {
  const isOver = end !== null && Date.parse(end) <= Date.now();
  return (
    <>
      <span className="rights-text">{usage_rights ?? (end === null && '–')}</span>
      {end !== null && (
        <span className={isOver ? 'second late' : 'second'}>
          {`${isOver ? 'Rights ended' : 'Usable until'} ${day(end)}`}
        </span>
      )}
    </>
  );
}

/** The creator of a file, or the brand. */
function Maker({ of: asset }: { of: Asset }) {
  return asset.creator_email === null ? 'Your brand' : <CreatorName of={asset} />;
}

interface Upload {
  name: string;
  state: 'in progress' | 'uploaded' | 'failed';
  why?: string;
}

const OF_FIELDS: readonly Field[] = [
  { name: 'creator_email', label: 'Creator', kind: 'creator' },
  { name: 'campaign_id', label: 'Campaign', kind: 'campaign' },
];

/** Uploads one file after another and shows the result of each. */
function UploadDialog(props: { isOpen: boolean; onClose: () => void; folder: string | undefined }) {
  const { isOpen, onClose, folder } = props;
  const cache = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const fields = useRef<HTMLFormElement>(null);
  async function upload(files: FileList | null) {
    const values = new Values(new FormData(fields.current ?? undefined));
    for (const file of files ?? []) {
      const { name } = file;
      setUploads((uploads) => [...uploads, { name, state: 'in progress' }]);
      const form = new FormData();
      if (folder !== undefined) form.set('folder_id', folder);
      for (const { name: field } of OF_FIELDS) if (values.some(field)) form.set(field, values.text(field));
      form.set('file', file);
      const outcome: Upload = await uploadTo('upload_asset', form).then(
        () => ({ name, state: 'uploaded' as const }),
        (error: Error) => ({ name, state: 'failed' as const, why: error.message }),
      );
      setUploads((uploads) => uploads.map((one) => (one.name === name && one.state === 'in progress' ? outcome : one)));
    }
    await cache.invalidateQueries({ queryKey: ['list_assets'] });
    await cache.invalidateQueries({ queryKey: ['list_asset_folders'] });
  }
  const close = () => {
    setUploads([]);
    onClose();
  };
  return (
    <Dialog
      title="Upload files"
      hint="Images, videos, audio and documents. Choose whom and what they belong to first, then the files."
      isOpen={isOpen}
      onClose={close}
    >
      <form className="form" ref={fields} onSubmit={(event) => event.preventDefault()}>
        {OF_FIELDS.map((field) => (
          <FieldRow key={field.name} field={field} />
        ))}
      </form>
      <div className="field">
        <label htmlFor="upload-files">Files</label>
        <input id="upload-files" type="file" multiple onChange={({ target }) => void upload(target.files)} />
      </div>
      <ul className="plain" aria-live="polite">
        {uploads.map(({ name, state, why }, i) => (
          <li key={`${name} ${i}`}>
            <Badge state={state} /> {name} {why && <span className="problem">{why}</span>}
          </li>
        ))}
      </ul>
      <div className="popup-foot">
        <Button kind="primary" onPress={close}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

interface OpenedFileProps {
  id: string | undefined;
  onClose: () => void;
}

function OpenedFile({ id, onClose }: OpenedFileProps) {
  const folders = useFolders();
  const query = useCall('get_asset', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const remove = useChange('delete_asset', ['list_assets', 'list_asset_folders']);
  return (
    <Detail id={id} onClose={onClose} query={query} title={(asset) => asset?.name ?? 'File'}>
      {(asset) => (
        <>
          {asset.thumbnail_url && <img className="preview" src={asset.thumbnail_url} alt={asset.name} />}
          <Facts
            of={[
              ['Type', `${words(asset.type)}, ${asset.mime_type}`],
              ['Size', bytes(asset.size_bytes)],
              ['Creator', <CreatorName key="creator" of={asset} />],
              ['Campaign', <CampaignName key="campaign" id={asset.campaign_id} />],
              ['Source', words(asset.source)],
              ['Rights', asset.usage_rights],
              ['Rights end', day(asset.rights_expires_at)],
              ['Added', day(asset.created_at)],
            ]}
          />
          <p>
            <a className="button plain" href={asset.url} target="_blank" rel="noreferrer">
              Open the file
            </a>
          </p>
          {/* The form shows the file's folder from the start, so it waits for the folders. */}
          {folders.error && <Failure error={folders.error} again={() => void folders.refetch()} />}
          {folders.data && (
            <OperationForm
              operation="update_assets"
              key={asset.updated_at ?? asset.id}
              item={asset}
              action="Save"
              fields={[
                'name',
                { name: 'folder_id', label: 'Folder', options: folderOptions(folders.data), labels: NO_FOLDER },
                'tags',
                { name: 'usage_rights', label: 'Usage rights' },
                { name: 'rights_expires_at', label: 'Rights end on' },
              ]}
              omits={['ids', 'rights']}
              fixed={{ id: asset.id }}
              shown={['list_assets', 'list_asset_folders', 'get_asset']}
              onDone={onClose}
            />
          )}
          <Confirm
            needs="delete_asset"
            label="Delete"
            title={`Delete ${asset.name}?`}
            action="Delete"
            onConfirm={async () => {
              await remove.mutateAsync({ params: { id: asset.id } });
              onClose();
            }}
          >
            <p>The file is deleted permanently.</p>
          </Confirm>
        </>
      )}
    </Detail>
  );
}

const FILTERED = ['search', 'tag', 'type', 'rights', 'creator_email', 'campaign_id'] as const;

export function Assets() {
  const { get } = useFilters();
  const folder = get('folder');
  const folders = useFolders().data ?? [];
  const filters = {
    folder_id: folder,
    search: get('search'),
    tag: get('tag'),
    type: findChoice(get('type'), TYPES),
    rights: findChoice(get('rights'), RIGHTS),
    creator_email: get('creator_email'),
    campaign_id: get('campaign_id'),
  };
  const list = useRows('list_assets', { ...filters, sort: sortIn(get) });
  const selection = useSelection<Asset>(filters);
  const isFiltered = FILTERED.some((name) => get(name) !== undefined);
  const may = useMay();
  const panel = useOpened();
  const uploading = useDialog('upload');
  const isWide = useIsWide();
  const columns: readonly Column<Asset>[] = [
    {
      head: 'File',
      cell: (asset) => (
        <div className="person">
          <Thumbnail of={asset} />
          <div>
            <button type="button" className="link" onClick={() => panel.open(asset.id)}>
              {asset.name}
            </button>
            <span className="second">
              <Maker of={asset} />
            </span>
          </div>
        </div>
      ),
    },
    ...(isWide
      ? []
      : ([
          { head: 'Type', cell: ({ type }) => words(type), isWide: true },
          { head: 'Size', cell: ({ size_bytes }) => bytes(size_bytes), isNumber: true, isWide: true },
        ] satisfies Column<Asset>[])),
    { head: 'Rights', cell: (asset) => <Rights of={asset} /> },
    {
      head: 'Added',
      cell: ({ created_at }) => `${isWide ? 'Added ' : ''}${day(created_at)}`,
      isWide: true,
      isOrder: true,
    },
  ];
  return (
    <>
      <PageHead title="Content library" hint="Your files and those of creators, with their rights.">
        <Button needs="upload_asset" kind="primary" onPress={uploading.open}>
          Upload files
        </Button>
      </PageHead>
      <Folders folders={folders} current={folder} />
      {(list.total !== 0 || isFiltered) && (
        <Filters
          of={[
            { name: 'search', label: 'Name', kind: 'text' },
            { name: 'type', label: 'Type', kind: 'select', options: TYPES.map((type) => [type, words(type)]) },
          ]}
          more={[
            { name: 'tag', label: 'Tag', kind: 'text' },
            { name: 'rights', label: 'Rights', kind: 'select', options: RIGHTS.map((right) => [right, words(right)]) },
            CREATOR_FILTER,
            CAMPAIGN_FILTER,
          ]}
        />
      )}
      <Table
        caption="Content library"
        noun="file"
        list={list}
        columns={columns}
        isGallery={isWide}
        {...(may('update_assets') ? { selection } : {})}
        empty={<Empty title="No files here">Upload files, or approve deliverables to add theirs.</Empty>}
      />
      <MoveFiles ids={[...selection.selected.keys()]} folders={folders} onMoved={() => selection.onSelect(new Map())} />
      <UploadDialog isOpen={uploading.isOpen} onClose={uploading.close} folder={folder} />
      <OpenedFile id={panel.id} onClose={panel.close} />
    </>
  );
}
