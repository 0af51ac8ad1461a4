-- Rows that come by hundreds a statement are sealed by one statement, too: sealing each row by itself took two thirds of the
-- time of an import's writing. What is sealed of a row, and its place behind the row's earlier ones, stay the same.
CREATE FUNCTION open_seal() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  seal text := nullif(current_setting('rollcall.seal', true), '');
BEGIN
  IF seal IS NULL THEN
    seal := nextval('seal_ids')::text;
    PERFORM set_config('rollcall.seal', seal, true);
  END IF;
  RETURN seal::bigint;
END $$;

CREATE OR REPLACE FUNCTION note(brand_id text, table_name text, key text[], found_hash text, facts jsonb, salt uuid)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sealed_rows (seal_id, brand_id, table_name, key, found_hash, facts, salt)
    VALUES (open_seal(), brand_id, table_name, key, found_hash, facts, salt);
END $$;

-- A trigger's table name has the collation "C", which these comparisons would take over. They then cannot use the index, and
-- read every seal there is for each row that changes.
CREATE OR REPLACE FUNCTION find_salt(brand text, of_table text, of_key text[]) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  last sealed_rows;
BEGIN
  FOR turn IN 1..2 LOOP
    SELECT * INTO last FROM sealed_rows AS written
      WHERE written.brand_id = brand COLLATE "default" AND written.table_name = of_table COLLATE "default"
        AND written.key = of_key COLLATE "default"
      ORDER BY written.id DESC LIMIT 1;
    EXIT WHEN last.salt IS NOT NULL OR turn = 2;
    PERFORM pg_advisory_xact_lock_shared(hashtext('seals ' || brand));
  END LOOP;
  RETURN last.salt;
END $$;

-- Columns that are long are looked for together, because most rows have none or one of them. They become hashes first (0132).
CREATE OR REPLACE FUNCTION sealed_facts(table_name text, written jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  columns text[] := sealed_columns(table_name);
  facts jsonb := jsonb_strip_nulls(written - '{brand_id,updated_at,synced_at}'::text[]);
  longs CONSTANT text[] := '{attribution,settled_ids,message,answer,items,old_values,new_values,click,hash}';
  long text;
BEGIN
  IF table_name = 'api_keys' AND written ->> 'kind' = 'session'
    OR table_name = 'webhook_subscriptions' AND written ->> 'deleted_at' IS NOT NULL THEN
    RETURN NULL;
  END IF;
  IF facts ?| longs THEN
    FOREACH long IN ARRAY longs LOOP
      IF facts ? long THEN
        facts := facts || jsonb_build_object(long, 'sha256:' || sealed_digest(facts -> long));
      END IF;
    END LOOP;
  END IF;
  IF columns IS NOT NULL THEN
    facts := coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(facts) WHERE key = ANY (columns)), '{}');
  END IF;
  RETURN facts;
END $$;

-- A row has a salt if anything of it was committed. OFFSET 0 keeps facts from being computed once for each place that names
-- them.
CREATE FUNCTION note_inserted() RETURNS trigger LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
  seal bigint;
BEGIN
  IF NOT EXISTS (SELECT FROM written) THEN
    RETURN NULL;
  END IF;
  seal := open_seal();
  INSERT INTO sealed_rows (seal_id, brand_id, table_name, key, facts, salt)
    SELECT seal, inserted ->> 'brand_id', TG_TABLE_NAME, sealed_key(inserted, TG_ARGV[0:2]), committed,
      CASE WHEN committed <> facts THEN salt END
    FROM (
      SELECT inserted, facts, salt, commit_facts(TG_TABLE_NAME, facts, salt) AS committed
      FROM (
        SELECT inserted, sealed_facts(TG_TABLE_NAME, inserted) AS facts, gen_random_uuid() AS salt
        FROM (SELECT to_jsonb(written) AS inserted FROM written OFFSET 0) AS rows OFFSET 0
      ) AS present OFFSET 0
    ) AS sealed;
  RETURN NULL;
END $$;

DO $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT * FROM (VALUES ('order_heads', 'integration_id, order_id'), ('orders', 'id'),
    ('order_items', 'integration_id, order_id, refund_id'), ('customers', 'id'), ('customer_keys', 'customer_id, kind, key'),
    ('commissions', 'id'), ('past_commissions', 'id'), ('audit_log', 'id')) AS bulk (name, key) LOOP
    EXECUTE format('DROP TRIGGER note_written ON %I', one.name);
    EXECUTE format('CREATE TRIGGER note_written AFTER UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION note_written(%s)',
      one.name, one.key);
    EXECUTE format('CREATE TRIGGER note_inserted AFTER INSERT ON %I REFERENCING NEW TABLE AS written FOR EACH STATEMENT
      EXECUTE FUNCTION note_inserted(%s)', one.name, one.key);
  END LOOP;
END $$;
