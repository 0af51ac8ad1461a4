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
  -- The row as it was written; null: it was deleted.
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

-- Each table with its key.
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON creators
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON links
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON link_slugs
  FOR EACH ROW EXECUTE FUNCTION note_written(slug);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON link_states
  FOR EACH ROW EXECUTE FUNCTION note_written(link_id, at);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON link_past_codes
  FOR EACH ROW EXECUTE FUNCTION note_written(link_id, code, until);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON orders
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON order_heads
  FOR EACH ROW EXECUTE FUNCTION note_written(integration_id, order_id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON order_refunds
  FOR EACH ROW EXECUTE FUNCTION note_written(integration_id, order_id, refund_id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON commissions
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON commission_adjustments
  FOR EACH ROW EXECUTE FUNCTION note_written(commission_id, cause);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON payouts
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON payout_allocations
  FOR EACH ROW EXECUTE FUNCTION note_written(commission_id, payout_id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON statements
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON disputes
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
