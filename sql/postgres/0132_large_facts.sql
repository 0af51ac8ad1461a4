-- As before, but long values become hashes first: jsonb_object_agg takes quadratic time for a list, which was half an hour for the
-- audit entry of a payout with 100,000 commissions. What is sealed is the same.
CREATE OR REPLACE FUNCTION sealed_facts(table_name text, written jsonb) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
  columns text[] := sealed_columns(table_name);
  facts jsonb := jsonb_strip_nulls(written - '{brand_id,updated_at,synced_at}'::text[]);
  long text;
BEGIN
  IF table_name = 'api_keys' AND written ->> 'kind' = 'session'
    OR table_name = 'webhook_subscriptions' AND written ->> 'deleted_at' IS NOT NULL THEN
    RETURN NULL;
  END IF;
  FOREACH long IN ARRAY '{attribution,settled_ids,message,answer,items,old_values,new_values,click,hash}'::text[] LOOP
    IF facts ? long THEN
      facts := facts || jsonb_build_object(long, 'sha256:' || sealed_digest(facts -> long));
    END IF;
  END LOOP;
  IF columns IS NOT NULL THEN
    facts := coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(facts) WHERE key = ANY (columns)), '{}');
  END IF;
  RETURN facts;
END $$;
