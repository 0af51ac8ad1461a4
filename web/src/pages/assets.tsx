import type { Answer, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useMay } from '../call/may.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { useCreatorName } from '../kit/creator-face.tsx';
import { Detail } from '../kit/detail.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { CAMPAIGN_FILTER, CREATOR_FILTER, Filters, findChoice, sortIn, useFilters } from '../kit/filters.tsx';
import { bytes, day, words } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Empty, Facts, Failure, PageHead } from '../kit/parts.tsx';
import { useSelection } from '../kit/selection.ts';
import { type Column, Table } from '../kit/table.tsx';
import { useIsPhone, useIsWide } from '../kit/wide.ts';
import { type Folder, Folders, folderOptions, MoveFiles, NO_FOLDER, useFolders } from './asset-folders.tsx';
import { UploadDialog } from './asset-upload.tsx';
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

/** The end of the rights in a few words, for a phone's cards. */
function untilText({ rights_expires_at: end }: Asset) {
  if (end === null) return null;
  return `${Date.parse(end) <= Date.now() ? 'Ended' : 'Until'} ${day(end)}`;
}

/** The end of the rights to a file, else the rights in words; the file's panel has both. */
function Rights({ of: { usage_rights, rights_expires_at: end } }: { of: Asset }) {
  if (end === null) return <span className="rights-text">{usage_rights ?? '–'}</span>;
  const isOver = Date.parse(end) <= Date.now();
  return (
    <span className={isOver ? 'late' : undefined} title={usage_rights ?? undefined}>
      {`${isOver ? 'Rights ended' : 'Usable until'} ${day(end)}`}
    </span>
  );
}

/** The creator of a file, or the brand. Files that creators send are often named after them, which says it already. */
function Maker({ of: asset }: { of: Asset }) {
  const name = useCreatorName(asset.creator_email);
  if (asset.creator_email === null) return 'Your brand';
  if (name && asset.name.toLowerCase().startsWith(name.toLowerCase())) return null;
  return <CreatorName of={asset} />;
}

type EditFileProps = Editing<Answer<'get_asset'>['data']> & { folders: readonly Folder[] };

function EditFile({ item: asset, isOpen, onClose, folders }: EditFileProps) {
  return (
    <OperationDialog
      operation="update_assets"
      title="Edit the file"
      isOpen={isOpen}
      onClose={onClose}
      item={asset}
      action="Save"
      fields={[
        'name',
        { name: 'folder_id', label: 'Folder', options: folderOptions(folders), labels: NO_FOLDER },
        'tags',
        { name: 'usage_rights', label: 'Usage rights' },
        { name: 'rights_expires_at', label: 'Rights end on' },
      ]}
      omits={['ids', 'rights']}
      fixed={{ id: asset.id }}
      shown={['list_assets', 'list_asset_folders', 'get_asset']}
      onDone={onClose}
    />
  );
}

interface OpenedFileProps {
  id: string | undefined;
  onClose: () => void;
}

function OpenedFile({ id, onClose }: OpenedFileProps) {
  const folders = useFolders();
  const allFolders = folders.data;
  const query = useCall('get_asset', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const remove = useChange('delete_asset', ['list_assets', 'list_asset_folders']);
  return (
    <Detail id={id} onClose={onClose} query={query} title={(asset) => asset?.name ?? 'File'}>
      {(asset) => (
        <>
          {asset.thumbnail_url && <img className="preview" src={asset.thumbnail_url} alt={asset.name} />}
          {folders.error && <Failure error={folders.error} again={() => void folders.refetch()} />}
          <div className="row">
            <a className="button primary" href={asset.url} target="_blank" rel="noreferrer">
              Open the file
            </a>
            {allFolders && (
              <Editor item={asset} needs="update_assets">
                {(editing) => <EditFile {...editing} folders={allFolders} />}
              </Editor>
            )}
            <Confirm
              needs="delete_asset"
              label="Delete"
              isQuiet
              title={`Delete ${asset.name}?`}
              action="Delete"
              onConfirm={async () => {
                await remove.mutateAsync({ params: { id: asset.id } });
                onClose();
              }}
            >
              <p>The file is deleted permanently.</p>
            </Confirm>
          </div>
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
  const isPhone = useIsPhone();
  const isGallery = useIsWide() || isPhone;
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
            <span className="second">{isPhone ? untilText(asset) : <Maker of={asset} />}</span>
          </div>
        </div>
      ),
    },
    ...(isGallery
      ? []
      : ([
          { head: 'Type', cell: ({ type }) => words(type), isWide: true },
          { head: 'Size', cell: ({ size_bytes }) => bytes(size_bytes), isNumber: true, isWide: true },
        ] satisfies Column<Asset>[])),
    ...(isPhone
      ? []
      : ([
          { head: 'Rights', cell: (asset) => <Rights of={asset} /> },
          {
            head: 'Added',
            cell: ({ created_at }) => `${isGallery ? 'Added ' : ''}${day(created_at)}`,
            isWide: true,
            isOrder: true,
          },
        ] satisfies Column<Asset>[])),
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
        isGallery={isGallery}
        {...(may('update_assets') ? { selection } : {})}
        empty={<Empty title="No files here">Upload files, or approve deliverables to add theirs.</Empty>}
      />
      <MoveFiles ids={[...selection.selected.keys()]} folders={folders} onMoved={() => selection.onSelect(new Map())} />
      <UploadDialog isOpen={uploading.isOpen} onClose={uploading.close} folders={folders} folder={folder} />
      <OpenedFile id={panel.id} onClose={panel.close} />
    </>
  );
}
