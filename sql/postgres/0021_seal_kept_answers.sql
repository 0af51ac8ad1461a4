-- An answer with a secret in it is kept encrypted: who reads the table or a dump of it does not read the secret.
ALTER TABLE idempotency_keys ADD COLUMN is_sealed boolean NOT NULL DEFAULT false;
