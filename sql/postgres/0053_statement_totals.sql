-- What a statement comes to, one element per currency, in minor units; null for those created before this column.
ALTER TABLE statements ADD COLUMN totals jsonb;
