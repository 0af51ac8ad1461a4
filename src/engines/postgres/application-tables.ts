import type { ColumnType } from 'kysely';

/**
 * Changes to a pending application that another sender submitted for its e-mail address. They take effect once the
 * owner of the address confirms them.
 */
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
