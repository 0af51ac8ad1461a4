-- A payout that is voided or returned, and a commission that is clawed back, keep what they were; what follows is in the
-- ledger. The new constraints are not validated: they only allow more than the ones that they replace.
ALTER TABLE payouts DROP CONSTRAINT payouts_status_check;
ALTER TABLE payouts ADD CONSTRAINT payouts_status_check
  CHECK (status IN ('completed', 'paid', 'voided', 'returned')) NOT VALID;
ALTER TABLE payouts ADD COLUMN corrected_at timestamptz;
ALTER TABLE payouts ADD COLUMN correction_reason text;
-- Of a returned payout, the parts of commissions that it had paid and what it had netted:
-- {"nettedMinor", "allocations": [{"commissionId", "amountMinor"}]}
ALTER TABLE payouts ADD COLUMN undone jsonb;

ALTER TABLE commissions ADD COLUMN clawed_back_at timestamptz;
ALTER TABLE commissions ADD COLUMN claw_back_reason text;

ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_kind_check;
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_kind_check CHECK (kind IN
  ('sale', 'refund', 'approval', 'rejection', 'payment', 'adjustment', 'payout', 'manual', 'void', 'return', 'claw_back'))
  NOT VALID;
