-- An order that turns out to be a test is taken back by an entry of its own.
ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_kind_check;
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_kind_check CHECK (kind IN
  ('sale', 'refund', 'approval', 'rejection', 'payment', 'adjustment', 'payout', 'manual', 'void', 'return', 'claw_back', 'test'))
  NOT VALID;
