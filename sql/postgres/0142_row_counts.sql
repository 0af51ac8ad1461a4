-- How many rows a brand has in the tables that may have millions, so that the total of a list is exact without a scan: of
-- 10,000,000 orders it took 3.3 s. A statement that inserts or deletes adds a row with the difference, in its own
-- transaction, so that no writer waits for another; the count is the sum, and a job sums up what was added. The triggers also
-- fire in sessions of the role `replica`, which skip the others: with logical replication, leave this table out.
CREATE TABLE row_counts (
  brand_id text NOT NULL,
  table_name text NOT NULL,
  difference bigint NOT NULL
);
CREATE INDEX row_counts_by_brand ON row_counts (brand_id, table_name) INCLUDE (difference);

CREATE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO row_counts (brand_id, table_name, difference)
    SELECT brand_id, TG_TABLE_NAME, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
    FROM changed GROUP BY brand_id;
  RETURN NULL;
END $$;

DO $$
DECLARE
  one text;
BEGIN
  FOREACH one IN ARRAY '{orders,commissions,past_commissions,customers,audit_log}'::text[] LOOP
    EXECUTE format('CREATE TRIGGER count_inserted AFTER INSERT ON %I REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION count_rows()', one);
    EXECUTE format('CREATE TRIGGER count_deleted AFTER DELETE ON %I REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION count_rows()', one);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER count_inserted, ENABLE ALWAYS TRIGGER count_deleted', one);
    -- Creating a trigger keeps writers out until the commit.
    EXECUTE format('INSERT INTO row_counts (brand_id, table_name, difference)
      SELECT brand_id, %L, count(*) FROM %I GROUP BY brand_id', one, one);
  END LOOP;
END $$;
