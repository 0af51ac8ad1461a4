-- Rows that steer money are sealed, too: settings, rules, policies, keys, stores, costs, and what was recorded of them.

-- The columns that are sealed of a table; null: all but bookkeeping. Key columns and columns that are never null may be
-- added to a list only together with a new table: earlier rows were sealed without them.
CREATE FUNCTION sealed_columns(table_name text) RETURNS text[] IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE table_name
    WHEN 'creators' THEN '{id,email}'
    WHEN 'brands' THEN '{id,auto_approve_commissions,default_commission_rate_ppm,currency,time_zone}'
    WHEN 'attribution_rules' THEN '{model,coupon_policy,min_order_minor,min_order_currency,customer_policy}'
    WHEN 'fraud_rules' THEN '{rules}'
    WHEN 'referrer_checks' THEN '{commission_id,created_at}'
    WHEN 'agent_policies' THEN
      '{allowed_tools,highest_rate_ppm,payouts_per_day_minor,person_above_minor,money_out,data_out}'
    WHEN 'integrations' THEN '{id,provider,storefront_url,base_url,currency,renewal_tags,first_tags}'
    WHEN 'api_keys' THEN '{id,kind,subscription_id,hash,limits,expires_at,revoked_at}'
    WHEN 'webhook_subscriptions' THEN '{id,variant,url,events}'
    WHEN 'reports' THEN '{id,operation,parameters,recipients}'
    WHEN 'costs' THEN '{id,scope,campaign_id,sku,kind,rate_ppm,amount_minor,currency,from_day,to_day}'
    WHEN 'contracts' THEN
      '{id,creator_id,compensation_type,compensation_amount_minor,compensation_rate_ppm,compensation_currency}'
    WHEN 'past_commissions' THEN '{id,creator_id,source,reference,amount_minor,currency,paid_at}'
    WHEN 'order_items' THEN '{integration_id,order_id,refund_id,items,reported_at}'
    WHEN 'order_clicks' THEN '{integration_id,order_id,click}'
    WHEN 'audit_log' THEN '{id,key_id,by_agent,operation,resource_id,old_values,new_values,request_id,at}'
  END::text[]
$$;

-- Null: the row is not sealed (a session, or a webhook that was deleted and waits for its removal).
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
  IF columns IS NOT NULL THEN
    facts := coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(facts) WHERE key = ANY (columns)), '{}');
  END IF;
  FOREACH long IN ARRAY '{attribution,settled_ids,message,answer,items,old_values,new_values,click,hash}'::text[] LOOP
    IF facts ? long THEN
      facts := facts || jsonb_build_object(long, 'sha256:' || sealed_digest(facts -> long));
    END IF;
  END LOOP;
  RETURN facts;
END $$;

-- As before; of a brand, its id is the brand. Without the row (a baseline), see note_present.
CREATE OR REPLACE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
  old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
  old_facts jsonb := CASE WHEN TG_OP <> 'INSERT' THEN sealed_facts(TG_TABLE_NAME, old_row) END;
  new_facts jsonb := CASE WHEN TG_OP <> 'DELETE' THEN sealed_facts(TG_TABLE_NAME, new_row) END;
  present jsonb := coalesce(new_row, old_row);
BEGIN
  IF old_facts IS NOT DISTINCT FROM new_facts THEN
    RETURN NULL;
  END IF;
  PERFORM note(coalesce(present ->> 'brand_id', present ->> 'id'), TG_TABLE_NAME,
    sealed_key(present, TG_ARGV[0:2]), sealed_digest(old_facts), new_facts);
  RETURN NULL;
END $$;

CREATE FUNCTION note(brand_id text, table_name text, key text[], found_hash text, facts jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  seal text := nullif(current_setting('rollcall.seal', true), '');
BEGIN
  IF seal IS NULL THEN
    seal := nextval('seal_ids')::text;
    PERFORM set_config('rollcall.seal', seal, true);
  END IF;
  INSERT INTO sealed_rows (seal_id, brand_id, table_name, key, found_hash, facts)
    VALUES (seal::bigint, brand_id, table_name, key, found_hash, facts);
END $$;

CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON brands
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON attribution_rules
  FOR EACH ROW EXECUTE FUNCTION note_written(brand_id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON fraud_rules
  FOR EACH ROW EXECUTE FUNCTION note_written(brand_id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON referrer_checks
  FOR EACH ROW EXECUTE FUNCTION note_written(commission_id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON agent_policies
  FOR EACH ROW EXECUTE FUNCTION note_written(brand_id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON integrations
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON webhook_subscriptions
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON reports
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON costs
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON contracts
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON past_commissions
  FOR EACH ROW EXECUTE FUNCTION note_written(id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON order_items
  FOR EACH ROW EXECUTE FUNCTION note_written(integration_id, order_id, refund_id);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON order_clicks
  FOR EACH ROW EXECUTE FUNCTION note_written(integration_id, order_id, click);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION note_written(id);

-- Notes the rows of these tables as they are, as if they were written now. Large tables are left out: of their earlier
-- rows, what is written from now on is sealed.
CREATE FUNCTION note_present(brand text) RETURNS void LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
  one text[];
BEGIN
  FOREACH one SLICE 1 IN ARRAY ARRAY[
    ['brands', 'id'], ['attribution_rules', 'brand_id'], ['fraud_rules', 'brand_id'], ['referrer_checks', 'commission_id'],
    ['agent_policies', 'brand_id'], ['integrations', 'id'], ['api_keys', 'id'], ['webhook_subscriptions', 'id'],
    ['reports', 'id'], ['costs', 'id'], ['contracts', 'id'], ['past_commissions', 'id']] LOOP
    EXECUTE format('SELECT note($1, %1$L, sealed_key(to_jsonb(present), ARRAY[%2$L]), NULL, facts)
      FROM %1$I AS present, sealed_facts(%1$L, to_jsonb(present)) AS facts WHERE %3$I = $1 AND facts IS NOT NULL',
      one[1], one[2], CASE WHEN one[1] = 'brands' THEN 'id' ELSE 'brand_id' END) USING brand;
  END LOOP;
END $$;

-- Writes the seal of what this transaction noted, as the API does at the end of its own.
CREATE FUNCTION seal_noted(brand text) RETURNS void LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
  head outbox_numbers;
  seal bigint := nullif(current_setting('rollcall.seal', true), '')::bigint;
  noted text := (SELECT string_agg(jsonb_build_array(table_name, key, found_hash, facts)::text, ',' ORDER BY id)
    FROM sealed_rows WHERE seal_id = seal);
  sealed_time timestamptz := date_trunc('milliseconds', now());
BEGIN
  IF noted IS NULL THEN
    RETURN;
  END IF;
  SELECT * INTO head FROM outbox_numbers WHERE brand_id = brand ORDER BY version DESC LIMIT 1 FOR UPDATE;
  INSERT INTO seals (brand_id, seq, seal_id, ledger_seq, ledger_hash, sealed_at, hash)
    VALUES (brand, head.seal_seq + 1, seal, head.ledger_seq, head.ledger_hash, sealed_time, seal_hash(head.seal_hash, brand,
      head.seal_seq + 1, head.ledger_seq, head.ledger_hash, sealed_time, noted));
  UPDATE outbox_numbers AS one SET version = version + 1, moved_at = now(), seal_seq = head.seal_seq + 1,
    seal_hash = (SELECT hash FROM seals WHERE seal_id = seal)
    WHERE one.brand_id = brand AND one.version = head.version;
  PERFORM set_config('rollcall.seal', '', true);
END $$;

DO $$
DECLARE
  brand text;
BEGIN
  FOR brand IN SELECT id FROM brands ORDER BY id LOOP
    PERFORM note_present(brand);
    PERFORM seal_noted(brand);
  END LOOP;
END $$;

-- How far `ledger verify` found nothing wrong, so that it continues there.
CREATE TABLE ledger_verifications (
  brand_id text PRIMARY KEY REFERENCES brands (id),
  ledger_seq bigint NOT NULL,
  ledger_hash bytea,
  seal_seq bigint NOT NULL,
  seal_hash bytea,
  verified_at timestamptz NOT NULL
);
