import type { ColumnType, Generated } from 'kysely';

export type AssetType = 'image' | 'video' | 'document' | 'audio' | 'other';
export type AssetSource = 'upload' | 'deliverable' | 'tracked_content';
export type ThumbnailState = 'none' | 'due' | 'made' | 'failed';

/** What a contract allows a brand to do with a file. */
export interface UsageTerms {
  channels: string[] | null;
  territory: string | null;
  days: number | null;
  starts: 'signed' | 'posted' | 'fixed' | null;
  /** The day, if `starts` is `fixed`. Older terms lack it. */
  starts_on?: string | null;
}

export interface AssetFoldersTable {
  id: string;
  brandId: string;
  name: string;
  parentId: string | null;
  createdAt: ColumnType<Date, Date, never>;
  updatedAt: Date | null;
}

export interface AssetUploadsTable {
  storageKey: string;
  brandId: string;
  begunAt: Date;
  givenUpAt: Date | null;
}

export interface AssetsTable {
  id: string;
  brandId: string;
  name: string;
  type: AssetType;
  mimeType: string;
  sizeBytes: number;
  sha256: Buffer;
  storageKey: string;
  width: number | null;
  height: number | null;
  thumbnailKey: string | null;
  thumbnailState: ThumbnailState;
  thumbnailAttempts: Generated<number>;
  thumbnailRetryAt: Date | null;
  folderId: string | null;
  campaignId: string | null;
  creatorId: string | null;
  source: AssetSource;
  tags: string[];
  usageRights: string | null;
  /** Written as JSON text, read as parsed JSON. */
  rights: ColumnType<UsageTerms | null, string | null, string | null>;
  rightsExpiresAt: Date | null;
  rightsNoticeDays: number | null;
  createdAt: ColumnType<Date, Date, never>;
  updatedAt: Date | null;
  deletedAt: Date | null;
  purgedAt: Date | null;
}

export interface AssetTables {
  assetFolders: AssetFoldersTable;
  assetUploads: AssetUploadsTable;
  assets: AssetsTable;
}
