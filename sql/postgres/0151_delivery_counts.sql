-- Deliveries of webhooks and of stores are counted as those in 0142: a brand may have millions within the days that they are kept.
DO $$
DECLARE
  one text;
BEGIN
  FOREACH one IN ARRAY '{webhook_deliveries,store_deliveries}'::text[] LOOP
    EXECUTE format('CREATE TRIGGER count_inserted AFTER INSERT ON %I REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION count_rows()', one);
    EXECUTE format('CREATE TRIGGER count_deleted AFTER DELETE ON %I REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION count_rows()', one);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER count_inserted, ENABLE ALWAYS TRIGGER count_deleted', one);
    EXECUTE format('INSERT INTO row_counts (brand_id, table_name, difference)
      SELECT brand_id, %L, count(*) FROM %I GROUP BY brand_id', one, one);
  END LOOP;
END $$;
