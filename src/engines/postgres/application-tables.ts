import type { ColumnType } from 'kysely';

/** What another sender gave for the address of a pending application: nothing, until the address has confirmed it. */
export interface ApplicationChangesTable {
  id: string;
  brandId: string;
  applicationId: string;
  creatorName: string | null;
  creatorPhotoApp: string | null;
  creatorVideoApp: string | null;
  message: string | null;
  portfolioUrls: string[];
  confirmedAt: Date | null;
  createdAt: ColumnType<Date, Date, never>;
}

export interface ApplicationTables {
  applicationChanges: ApplicationChangesTable;
}
