-- A month is approved and paid by statements about hundreds of commissions, and most of their time went into a seal for each
-- row by itself. What is sealed of a row, and its place behind the row's earlier ones, stay the same. A statement that was
-- planned for one row must not compare each of a thousand rows with each other.
CREATE FUNCTION note_updated() RETURNS trigger LANGUAGE plpgsql SET TimeZone = 'UTC' SET enable_nestloop = off AS $$
DECLARE
  paired bigint;
BEGIN
  IF NOT EXISTS (SELECT FROM written) THEN
    RETURN NULL;
  END IF;
  WITH pairs AS MATERIALIZED (
    SELECT new_row.key, new_row.brand, old_row.facts AS old_facts, new_row.facts AS new_facts
    FROM (SELECT sealed_key(present, TG_ARGV[0:2]) AS key, sealed_facts(TG_TABLE_NAME, present) AS facts
      FROM (SELECT to_jsonb(before) AS present FROM before OFFSET 0) AS rows OFFSET 0) AS old_row
    JOIN (SELECT sealed_key(present, TG_ARGV[0:2]) AS key, sealed_facts(TG_TABLE_NAME, present) AS facts,
        present ->> 'brand_id' AS brand
      FROM (SELECT to_jsonb(written) AS present FROM written OFFSET 0) AS rows OFFSET 0) AS new_row
    ON new_row.key = old_row.key
  ), changed AS MATERIALIZED (
    SELECT *, CASE WHEN is_clear(TG_TABLE_NAME, old_facts) THEN find_salt(brand, TG_TABLE_NAME, key) END AS old_salt
    FROM pairs WHERE old_facts IS DISTINCT FROM new_facts
  ), salted AS MATERIALIZED (
    SELECT *, CASE
      WHEN NOT is_clear(TG_TABLE_NAME, new_facts) THEN NULL
      WHEN old_salt IS NULL OR current_setting('rollcall.erasing', true) = 'on' THEN gen_random_uuid()
      ELSE old_salt END AS salt
    FROM changed
  ), committed AS MATERIALIZED (
    SELECT *, commit_facts(TG_TABLE_NAME, old_facts, old_salt) AS was, commit_facts(TG_TABLE_NAME, new_facts, salt) AS facts
    FROM salted
  ), noted AS (
    INSERT INTO sealed_rows (seal_id, brand_id, table_name, key, found_hash, facts, salt)
      SELECT open_seal(), brand, TG_TABLE_NAME, key, sealed_digest(was), facts, CASE WHEN facts <> new_facts THEN salt END
      FROM committed
  )
  SELECT count(*) INTO paired FROM pairs;
  IF paired <> (SELECT count(*) FROM written) THEN
    RAISE EXCEPTION 'The key of a row of % does not change.', TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER note_written ON commissions;
CREATE TRIGGER note_written AFTER DELETE ON commissions FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_updated AFTER UPDATE ON commissions REFERENCING OLD TABLE AS before NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION note_updated(id);

DROP TRIGGER note_written ON payout_allocations;
CREATE TRIGGER note_written AFTER UPDATE OR DELETE ON payout_allocations
  FOR EACH ROW EXECUTE FUNCTION note_written(commission_id, payout_id);
CREATE TRIGGER note_inserted AFTER INSERT ON payout_allocations REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION note_inserted(commission_id, payout_id);
