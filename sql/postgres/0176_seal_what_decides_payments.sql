-- Rows that decide who is paid, and how much, are sealed in the transaction that writes them. Triggers note each row as it
-- was left; the transaction's last statement chains what was noted. An edit from elsewhere is noted, but never sealed.

CREATE SEQUENCE seal_ids;

CREATE TABLE sealed_rows (
  seal_id bigint NOT NULL,
  -- In the order in which they were written: of one row the later writer waited for the earlier.
  id bigint GENERATED ALWAYS AS IDENTITY,
  brand_id text NOT NULL,
  table_name text NOT NULL,
  key text[] NOT NULL,
  -- SHA-256 of the row as it was found; null: there was none.
  found_hash text,
  -- The row as it was left; null: it was deleted.
  facts jsonb,
  PRIMARY KEY (seal_id, id)
);
CREATE INDEX sealed_rows_by_key ON sealed_rows (brand_id, table_name, key, id);

-- One a transaction, numbered and chained by brand in the brand's numbers. It covers the ledger at that time, too.
CREATE TABLE seals (
  brand_id text NOT NULL REFERENCES brands (id),
  seq bigint NOT NULL,
  seal_id bigint NOT NULL UNIQUE,
  ledger_seq bigint NOT NULL,
  ledger_hash bytea,
  sealed_at timestamptz NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (brand_id, seq)
);

ALTER TABLE outbox_numbers ADD COLUMN seal_seq bigint NOT NULL DEFAULT 0, ADD COLUMN seal_hash bytea;

CREATE TRIGGER seals_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON seals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER sealed_rows_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON sealed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE FUNCTION sealed_digest(facts jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS $$
  SELECT encode(sha256(convert_to(facts::text, 'UTF8')), 'hex')
$$;

-- What is sealed of a row: all but nulls and times of mere bookkeeping, long values by their hash; of a creator the
-- address to which money goes. A new column that is not null must be left out here, or every row of before reads as edited.
CREATE FUNCTION sealed_facts(table_name text, written jsonb) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
  facts jsonb := jsonb_strip_nulls(written - '{brand_id,updated_at,synced_at}'::text[]);
  long text;
BEGIN
  IF table_name = 'creators' THEN
    RETURN jsonb_strip_nulls(jsonb_build_object('id', written -> 'id', 'email', written -> 'email'));
  END IF;
  FOREACH long IN ARRAY '{attribution,settled_ids,message,answer}'::text[] LOOP
    IF facts ? long THEN
      facts := facts || jsonb_build_object(long, 'sha256:' || sealed_digest(facts -> long));
    END IF;
  END LOOP;
  RETURN facts;
END $$;

CREATE FUNCTION sealed_key(written jsonb, columns text[]) RETURNS text[] IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  RETURN array_remove(ARRAY[written ->> columns[1], written ->> columns[2], written ->> columns[3]], NULL);
END $$;

CREATE FUNCTION seal_hash(previous bytea, brand_id text, seq bigint, ledger_seq bigint, ledger_hash bytea,
  sealed_at timestamptz, noted text) RETURNS bytea STABLE LANGUAGE sql AS $$
  SELECT sha256(coalesce(previous, '') || convert_to(concat_ws(' ', brand_id, seq, ledger_seq,
    coalesce(encode(ledger_hash, 'hex'), '-'), extract(epoch FROM sealed_at), noted), 'UTF8'))
$$;

-- Notes a row that was written, under the seal that its transaction has yet to write. The arguments are its key's columns.
CREATE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
  seal text := nullif(current_setting('rollcall.seal', true), '');
  old_facts jsonb;
  new_facts jsonb;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    old_facts := sealed_facts(TG_TABLE_NAME, to_jsonb(OLD));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    new_facts := sealed_facts(TG_TABLE_NAME, to_jsonb(NEW));
  END IF;
  IF old_facts IS NOT DISTINCT FROM new_facts THEN
    RETURN NULL;
  END IF;
  IF seal IS NULL THEN
    seal := nextval('seal_ids')::text;
    PERFORM set_config('rollcall.seal', seal, true);
  END IF;
  INSERT INTO sealed_rows (seal_id, brand_id, table_name, key, found_hash, facts) VALUES (seal::bigint,
    coalesce(NEW.brand_id, OLD.brand_id), TG_TABLE_NAME, sealed_key(coalesce(new_facts, old_facts), TG_ARGV[0:2]),
    sealed_digest(old_facts), new_facts);
  RETURN NULL;
END $$;

-- Each table with its key. What stands there already is sealed as it is, a thousand rows at a time.
DO $$
DECLARE
  sealed record;
  noted record;
BEGIN
  PERFORM set_config('TimeZone', 'UTC', true);
  FOR sealed IN SELECT * FROM (VALUES ('creators', 'id'), ('links', 'id'), ('link_slugs', 'slug'), ('link_states', 'link_id,at'),
    ('link_past_codes', 'link_id,code,until'), ('orders', 'id'), ('order_heads', 'integration_id,order_id'),
    ('order_refunds', 'integration_id,order_id,refund_id'), ('commissions', 'id'),
    ('commission_adjustments', 'commission_id,cause'), ('payouts', 'id'), ('payout_allocations', 'commission_id,payout_id'),
    ('statements', 'id'), ('disputes', 'id')) AS one (name, key)
  LOOP
    EXECUTE format('CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON %I
      FOR EACH ROW EXECUTE FUNCTION note_written(%s)', sealed.name, sealed.key);
    EXECUTE format('WITH present AS (
        SELECT brand_id, to_jsonb(one) AS written, row_number() OVER (PARTITION BY brand_id) / 1000 AS part FROM %1$I AS one
      ), parts AS MATERIALIZED (
        SELECT brand_id, part, nextval(''seal_ids'') AS seal_id FROM (SELECT DISTINCT brand_id, part FROM present) AS one
      )
      INSERT INTO sealed_rows (seal_id, brand_id, table_name, key, facts)
        SELECT seal_id, brand_id, %1$L, sealed_key(written, string_to_array(%2$L, '','')), sealed_facts(%1$L, written)
        FROM present JOIN parts USING (brand_id, part)', sealed.name, sealed.key);
  END LOOP;
  FOR noted IN SELECT brand_id, seal_id, string_agg(jsonb_build_array(table_name, key, found_hash, facts)::text, ',' ORDER BY id) AS text
    FROM sealed_rows GROUP BY brand_id, seal_id ORDER BY seal_id
  LOOP
    INSERT INTO outbox_heads (brand_id, seq) VALUES (noted.brand_id, 0) ON CONFLICT DO NOTHING;
    UPDATE outbox_numbers SET seal_seq = seal_seq + 1, seal_hash =
      seal_hash(seal_hash, brand_id, seal_seq + 1, ledger_seq, ledger_hash, now(), noted.text) WHERE brand_id = noted.brand_id;
    INSERT INTO seals SELECT brand_id, seal_seq, noted.seal_id, ledger_seq, ledger_hash, now(), seal_hash
      FROM outbox_numbers WHERE brand_id = noted.brand_id;
  END LOOP;
END $$;
