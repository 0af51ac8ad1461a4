-- A brand may refuse what a creator asked for on their own page.
ALTER TABLE data_requests DROP CONSTRAINT data_requests_state_check;
ALTER TABLE data_requests ADD CONSTRAINT data_requests_state_check
  CHECK (state IN ('open', 'running', 'done', 'refused'));
ALTER TABLE data_requests ADD COLUMN refusal text;
-- A creator's page files one erasure at a time.
CREATE UNIQUE INDEX data_requests_asked ON data_requests (brand_id, creator_id)
  WHERE source = 'page' AND kind = 'erasure' AND state IN ('open', 'running');

-- What bookkeeping wants kept of a creator who was paid, sealed, and until when.
ALTER TABLE data_requests ADD COLUMN books bytea, ADD COLUMN books_until timestamptz;
CREATE INDEX data_requests_books ON data_requests (books_until) WHERE books_until IS NOT NULL;
ALTER TABLE brands ADD COLUMN bookkeeping_years integer NOT NULL DEFAULT 10 CHECK (bookkeeping_years BETWEEN 0 AND 30);

-- The secret that signs a disconnected store's requests of people, and until when it stays.
ALTER TABLE integrations ADD COLUMN parting_secrets bytea, ADD COLUMN parting_until timestamptz;
CREATE INDEX integrations_parting ON integrations (parting_until) WHERE parting_until IS NOT NULL;
