-- Files of payment details enter where creators are paid.
ALTER TABLE imports
  DROP CONSTRAINT imports_of_check,
  ADD CONSTRAINT imports_of_check CHECK (of IN ('orders', 'commissions', 'roster', 'payouts', 'payment_details'));
ALTER TABLE import_mappings
  DROP CONSTRAINT import_mappings_of_check,
  ADD CONSTRAINT import_mappings_of_check
    CHECK (of IN ('orders', 'commissions', 'roster', 'payouts', 'payment_details'));
ALTER TABLE import_writes
  -- What a row had before, where an undo restores it.
  ADD COLUMN before jsonb,
  DROP CONSTRAINT import_writes_noun_check,
  ADD CONSTRAINT import_writes_noun_check CHECK (noun IN ('order', 'past_commission', 'creator', 'roster_entry', 'link',
    'payout', 'payment_profile'));
