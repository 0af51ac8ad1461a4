-- Personal values are sealed as commitments under a salt. Without the salt, which an erasure removes, they tell nothing; the
-- chain covers the commitments, so it stays whole.

-- Null: nothing of it is personal, it was sealed before there were commitments, or its person was erased.
ALTER TABLE sealed_rows ADD COLUMN salt uuid;

-- The sealed columns that are personal, as `personal-columns.ts` declares them. A test compares the two.
CREATE FUNCTION personal_columns(table_name text) RETURNS text[] IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE table_name
    WHEN 'creators' THEN '{email}'
    WHEN 'links' THEN '{creator_name}'
    WHEN 'orders' THEN '{customer_email,customer_hash,customer_id_hash}'
    WHEN 'customers' THEN '{customer_email}'
    WHEN 'payouts' THEN '{wallet_email,note,correction_reason}'
    WHEN 'payment_profiles' THEN '{wallet_email,legal_name,country,waiting,requested}'
    WHEN 'disputes' THEN '{message,answer}'
    WHEN 'commissions' THEN '{status_note,note_before_rejection,claw_back_reason}'
    WHEN 'audit_log' THEN '{old_values,new_values}'
    WHEN 'data_requests' THEN '{reason}'
  END::text[]
$$;

-- Replaces personal values by commitments; those that are commitments already stay.
CREATE FUNCTION commit_facts(table_name text, facts jsonb, salt uuid) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
  name text;
  bytes bytea := uuid_send(salt);
BEGIN
  IF salt IS NULL OR facts IS NULL THEN
    RETURN facts;
  END IF;
  FOREACH name IN ARRAY coalesce(personal_columns(table_name), '{}') LOOP
    IF facts ? name AND facts ->> name !~ '^hmac:[0-9a-f]{64}$' THEN
      facts := facts || jsonb_build_object(name, 'hmac:' || encode(
        sha256(bytes || sha256(bytes || convert_to((facts -> name)::text, 'UTF8'))), 'hex'));
    END IF;
  END LOOP;
  RETURN facts;
END $$;

-- True if a personal value of these facts is in clear text.
CREATE FUNCTION is_clear(table_name text, facts jsonb) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
  SELECT EXISTS (SELECT FROM unnest(personal_columns(table_name)) AS name
    WHERE facts ? name AND facts ->> name !~ '^hmac:[0-9a-f]{64}$')
$$;

-- As before, with the salt of the row. An erasure takes a new salt, so that what it leaves is told apart from what it took.
CREATE OR REPLACE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
  old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
  old_facts jsonb := CASE WHEN TG_OP <> 'INSERT' THEN sealed_facts(TG_TABLE_NAME, old_row) END;
  new_facts jsonb := CASE WHEN TG_OP <> 'DELETE' THEN sealed_facts(TG_TABLE_NAME, new_row) END;
  present jsonb := coalesce(new_row, old_row);
  brand text := coalesce(present ->> 'brand_id', present ->> 'id');
  row_salt uuid;
BEGIN
  IF old_facts IS NOT DISTINCT FROM new_facts THEN
    RETURN NULL;
  END IF;
  IF is_clear(TG_TABLE_NAME, old_facts) THEN
    row_salt := find_salt(brand, TG_TABLE_NAME, sealed_key(old_row, TG_ARGV[0:2]));
    old_facts := commit_facts(TG_TABLE_NAME, old_facts, row_salt);
  END IF;
  IF NOT is_clear(TG_TABLE_NAME, new_facts) THEN
    row_salt := NULL;
  ELSIF row_salt IS NULL OR current_setting('rollcall.erasing', true) = 'on' THEN
    row_salt := gen_random_uuid();
  END IF;
  PERFORM note(brand, TG_TABLE_NAME, sealed_key(present, TG_ARGV[0:2]), sealed_digest(old_facts),
    commit_facts(TG_TABLE_NAME, new_facts, row_salt), row_salt);
  RETURN NULL;
END $$;

CREATE FUNCTION note(brand_id text, table_name text, key text[], found_hash text, facts jsonb, salt uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  seal text := nullif(current_setting('rollcall.seal', true), '');
BEGIN
  IF seal IS NULL THEN
    seal := nextval('seal_ids')::text;
    PERFORM set_config('rollcall.seal', seal, true);
  END IF;
  INSERT INTO sealed_rows (seal_id, brand_id, table_name, key, found_hash, facts, salt)
    VALUES (seal::bigint, brand_id, table_name, key, found_hash, facts, salt);
END $$;

-- The salt of a row as last noted. A row of before commitments is about to be converted, perhaps: its writer waits for that, or
-- the conversion for the writer's commit.
CREATE FUNCTION find_salt(brand text, of_table text, of_key text[]) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  last sealed_rows;
BEGIN
  FOR turn IN 1..2 LOOP
    SELECT * INTO last FROM sealed_rows AS written
      WHERE written.brand_id = brand AND written.table_name = of_table AND written.key = of_key
      ORDER BY written.id DESC LIMIT 1;
    EXIT WHEN last.salt IS NOT NULL OR turn = 2;
    PERFORM pg_advisory_xact_lock_shared(hashtext('seals ' || brand));
  END LOOP;
  RETURN last.salt;
END $$;

-- Of a sealed row only the salt may go.
CREATE FUNCTION refuse_reseal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('rollcall.converting', true) = 'on'
    OR TG_TABLE_NAME = 'sealed_rows' AND to_jsonb(NEW) ->> 'salt' IS NULL
      AND to_jsonb(NEW) - 'salt' = to_jsonb(OLD) - 'salt' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the ledger is append-only';
END $$;
DROP TRIGGER seals_are_append_only ON seals;
CREATE TRIGGER seals_are_append_only BEFORE DELETE OR TRUNCATE ON seals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER seals_stay BEFORE UPDATE ON seals FOR EACH ROW EXECUTE FUNCTION refuse_reseal();
DROP TRIGGER sealed_rows_are_append_only ON sealed_rows;
CREATE TRIGGER sealed_rows_are_append_only BEFORE DELETE OR TRUNCATE ON sealed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER sealed_rows_stay BEFORE UPDATE ON sealed_rows FOR EACH ROW EXECUTE FUNCTION refuse_reseal();

-- The chain of a brand was hashed again over commitments, once: the head that it had then.
CREATE TABLE seal_conversions (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  seal_seq bigint NOT NULL,
  old_hash bytea,
  new_hash bytea,
  converted_at timestamptz NOT NULL
);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON seal_conversions
  FOR EACH ROW EXECUTE FUNCTION note_written(brand_id);

-- Replaces what was sealed in clear text of a brand by commitments, and hashes its chain again. Call it after a verification
-- without a problem, with the brand's numbers locked, and seal what it notes.
CREATE FUNCTION convert_seals(brand text, at timestamptz) RETURNS void LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
  head outbox_numbers;
  one record;
  last bytea;
BEGIN
  SELECT * INTO head FROM outbox_numbers WHERE brand_id = brand ORDER BY version DESC LIMIT 1 FOR UPDATE;
  PERFORM set_config('rollcall.converting', 'on', true);
  WITH clear AS (
    SELECT table_name, key FROM sealed_rows
    WHERE brand_id = brand AND is_clear(table_name, facts) GROUP BY table_name, key
  ), salted AS MATERIALIZED (SELECT table_name, key, gen_random_uuid() AS salt FROM clear)
  UPDATE sealed_rows AS written SET salt = salted.salt, facts = commit_facts(written.table_name, written.facts, salted.salt)
  FROM salted
  WHERE written.brand_id = brand AND written.table_name = salted.table_name AND written.key = salted.key
    AND is_clear(written.table_name, written.facts);
  UPDATE sealed_rows AS written SET found_hash = sealed_digest(before.facts)
  FROM (
    SELECT seal_id, id, lag(id) OVER of_row AS earlier, lag(facts) OVER of_row AS facts FROM sealed_rows
    WHERE brand_id = brand AND personal_columns(table_name) IS NOT NULL
    WINDOW of_row AS (PARTITION BY table_name, key ORDER BY id)
  ) AS before
  WHERE written.seal_id = before.seal_id AND written.id = before.id AND before.earlier IS NOT NULL
    AND written.found_hash IS DISTINCT FROM sealed_digest(before.facts);
  FOR one IN SELECT * FROM seals WHERE brand_id = brand ORDER BY seq LOOP
    last := seal_hash(last, brand, one.seq, one.ledger_seq, one.ledger_hash, one.sealed_at, (
      SELECT string_agg(jsonb_build_array(table_name, key, found_hash, facts)::text, ',' ORDER BY id)
      FROM sealed_rows WHERE seal_id = one.seal_id));
    UPDATE seals SET hash = last WHERE seal_id = one.seal_id AND hash <> last;
  END LOOP;
  UPDATE outbox_numbers SET seal_hash = last WHERE brand_id = brand AND version = head.version;
  DELETE FROM ledger_verifications WHERE brand_id = brand;
  DELETE FROM clear_seals WHERE brand_id = brand;
  PERFORM set_config('rollcall.converting', '', true);
  INSERT INTO seal_conversions (brand_id, seal_seq, old_hash, new_hash, converted_at)
    VALUES (brand, head.seal_seq, head.seal_hash, last, at);
END $$;

-- Removes the salts of what was sealed of rows before they were erased. Of a row that was not written again, nothing personal was
-- left, so its last salt says nothing.
CREATE FUNCTION forget_salts(brand text, of_table text, keys text[]) RETURNS void LANGUAGE sql AS $$
  UPDATE sealed_rows AS written SET salt = NULL
  WHERE written.brand_id = brand AND written.table_name = of_table AND written.salt IS NOT NULL
    AND written.key IN (SELECT ARRAY[one] FROM unnest(keys) AS one)
    AND EXISTS (SELECT FROM sealed_rows AS later WHERE later.brand_id = brand AND later.table_name = of_table
      AND later.key = written.key AND later.id > written.id)
$$;

-- Addresses that creators had before: an order by one of them is an own purchase. The seals no longer tell them.
CREATE TABLE creator_addresses (
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL REFERENCES creators (id),
  email text NOT NULL
);
CREATE INDEX creator_addresses_of_creator ON creator_addresses (brand_id, creator_id);
CREATE FUNCTION keep_address() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO creator_addresses (brand_id, creator_id, email) VALUES (OLD.brand_id, OLD.id, OLD.email);
  RETURN NULL;
END $$;
CREATE TRIGGER keep_address AFTER UPDATE OF email ON creators FOR EACH ROW
  WHEN (OLD.email IS NOT NULL AND OLD.email IS DISTINCT FROM NEW.email) EXECUTE FUNCTION keep_address();
INSERT INTO creator_addresses (brand_id, creator_id, email)
  SELECT DISTINCT noted.brand_id, creators.id, noted.facts ->> 'email'
  FROM sealed_rows AS noted JOIN creators ON creators.brand_id = noted.brand_id AND creators.id = noted.key[1]
  WHERE noted.table_name = 'creators' AND noted.facts ->> 'email' IS DISTINCT FROM creators.email
    AND noted.facts ->> 'email' IS NOT NULL;

-- Brands whose seals of before are not converted yet.
CREATE TABLE clear_seals (brand_id text PRIMARY KEY REFERENCES brands (id));
INSERT INTO clear_seals SELECT DISTINCT brand_id FROM outbox_numbers WHERE seal_seq > 0;
