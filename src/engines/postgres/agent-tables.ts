import type { ColumnType, Generated } from 'kysely';

type Json<T> = ColumnType<T, string, string>;

export interface AgentPoliciesTable {
  brandId: string;
  allowedTools: string[] | null;
  highestRatePpm: number | null;
  payoutsPerDayMinor: number | null;
  personAboveMinor: number | null;
  moneyOut: Generated<boolean>;
  dataOut: Generated<boolean>;
  updatedAt: Date | null;
}

/** A row that a plan would change, with the fields that would change. */
export interface PlannedChange {
  resource_id: string;
  old: Record<string, unknown> | null;
  new: Record<string, unknown> | null;
  /** Fields of `new` whose values are generated again when the plan is applied. */
  generated?: string[];
}

export interface PlansTable {
  id: string;
  brandId: string;
  keyId: string | null;
  byAgent: boolean;
  operation: string;
  request: Buffer;
  changes: Json<PlannedChange[]>;
  events: string[];
  createdAt: ColumnType<Date, Date, never>;
  expiresAt: Date;
  appliedAt: Date | null;
  appliedBy: string | null;
}

/** What an owner allowed a host of agents, by OAuth. */
export interface AgentGrantsTable {
  id: string;
  brandId: string;
  personId: string;
  clientHash: Buffer;
  clientName: string;
  redirectUri: string;
  scopes: string[];
  codeHash: Buffer;
  codeChallenge: string;
  codeExpiresAt: Date;
  codeUsedAt: Date | null;
  keyId: string | null;
  refreshHash: Buffer | null;
  spentRefreshHash: Buffer | null;
  refreshExpiresAt: Date | null;
  createdAt: ColumnType<Date, Date, never>;
}

export interface AgentTables {
  agentGrants: AgentGrantsTable;
  agentPolicies: AgentPoliciesTable;
  plans: PlansTable;
}
