-- Connections to stores that last: tokens that end, versions that end.

ALTER TABLE integrations
  -- Until then one process renews the token; the others take what it writes into `secrets`.
  ADD COLUMN renewing_until timestamptz,
  -- The version of its API that last answered. Null: not known, or the store has no versions.
  ADD COLUMN api_version text;
