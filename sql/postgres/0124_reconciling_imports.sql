-- A store's file that is compared with its orders is read, asked about and confirmed like any other.
ALTER TABLE imports
  ADD COLUMN integration_id text,
  ADD CONSTRAINT imports_integration FOREIGN KEY (brand_id, integration_id) REFERENCES integrations (brand_id, id),
  DROP CONSTRAINT imports_of_check,
  ADD CONSTRAINT imports_of_check
    CHECK (of IN ('orders', 'commissions', 'roster', 'payouts', 'payment_details', 'reconciliation'));
ALTER TABLE import_mappings
  DROP CONSTRAINT import_mappings_of_check,
  ADD CONSTRAINT import_mappings_of_check
    CHECK (of IN ('orders', 'commissions', 'roster', 'payouts', 'payment_details', 'reconciliation'));
