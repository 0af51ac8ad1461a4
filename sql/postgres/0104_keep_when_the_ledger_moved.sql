-- When the ledger's last entry was recorded: whoever appends has the head locked anyway, and need not look the entry up.
-- Null until the brand's next entry.
ALTER TABLE outbox_heads ADD COLUMN ledger_recorded_at timestamptz;
