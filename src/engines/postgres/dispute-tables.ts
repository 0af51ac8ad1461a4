import type { ColumnType, Generated } from 'kysely';

type CreatedAt = ColumnType<Date, Date, never>;

export interface StatementsTable {
  id: string;
  brandId: string;
  creatorId: string;
  fromAt: Date;
  untilAt: Date;
  fromText: string;
  toText: string;
  ledgerSeq: number;
  ledgerHash: Buffer | null;
  linkVersion: Generated<number>;
  createdAt: CreatedAt;
}

export interface DisputesTable {
  id: string;
  brandId: string;
  creatorId: string;
  statementId: string | null;
  payoutId: string | null;
  lineId: string | null;
  message: string;
  status: 'open' | 'answered' | 'closed';
  answer: string | null;
  answeredAt: Date | null;
  createdAt: CreatedAt;
  updatedAt: Date | null;
}

export interface DisputeTables {
  statements: StatementsTable;
  disputes: DisputesTable;
}
