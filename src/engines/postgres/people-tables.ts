import type { ColumnType } from 'kysely';

/** What a person may do in the brand's web app. */
export type Role = 'owner' | 'manager' | 'viewer';

type CreatedAt = ColumnType<Date, Date, never>;

export interface PeopleTable {
  id: string;
  brandId: string;
  email: string;
  name: string | null;
  role: Role;
  createdAt: CreatedAt;
  updatedAt: Date | null;
  removedAt: Date | null;
}

export interface SignInLinksTable {
  id: string;
  brandId: string;
  personId: string;
  hash: Buffer;
  createdAt: CreatedAt;
  expiresAt: Date;
  usedAt: Date | null;
}

export interface PasskeysTable {
  id: string;
  brandId: string;
  personId: string;
  credentialId: string;
  publicKey: Buffer;
  counter: number;
  transports: string[];
  rpId: string;
  origin: string;
  name: string;
  createdAt: CreatedAt;
  lastUsedAt: Date | null;
}

export interface PasskeyChallengesTable {
  id: string;
  challenge: string;
  personId: string | null;
  expiresAt: Date;
}

export interface SavedSearchesTable {
  id: string;
  brandId: string;
  personId: string;
  name: string;
  filters: ColumnType<Record<string, string>, string, string>;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface PeopleTables {
  people: PeopleTable;
  signInLinks: SignInLinksTable;
  passkeys: PasskeysTable;
  passkeyChallenges: PasskeyChallengesTable;
  savedSearches: SavedSearchesTable;
}
