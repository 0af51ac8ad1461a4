-- Where a creator is paid, if not at the mail address. Account numbers, tax ids and documents are not kept. A change of an
-- address that money went to waits, and whoever owns the old address hears of it; what waits holds from its time on.
CREATE TABLE payment_profiles (
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  method text CHECK (method IN ('wallet', 'bank_transfer', 'manual')),
  wallet_email text,
  legal_name text,
  country text CHECK (country ~ '^[A-Z]{2}$'),
  currency text CHECK (currency ~ '^[A-Z]{3}$'),
  -- Who gave it. Null while only a first change waits: the mail address is paid until then.
  source text CHECK (source IN ('brand', 'creator')),
  -- {"method", "walletEmail", "legalName", "country", "currency", "source"}; all null: back to the mail address.
  waiting jsonb,
  effective_at timestamptz,
  -- Raised by each change, so that links of an earlier one are dead.
  version integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  PRIMARY KEY (brand_id, creator_id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id),
  CHECK ((waiting IS NULL) = (effective_at IS NULL))
);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON payment_profiles
  FOR EACH ROW EXECUTE FUNCTION note_written(creator_id);

