-- What people asked for by law: to be erased, or to be told what is kept of them.
CREATE TABLE data_requests (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  kind text NOT NULL CHECK (kind IN ('erasure', 'access')),
  subject text NOT NULL CHECK (subject IN ('creator', 'customer')),
  source text NOT NULL CHECK (source IN ('api', 'page', 'cli', 'shopify', 'woocommerce')),
  state text NOT NULL CHECK (state IN ('open', 'running', 'done')),
  -- The creator's id; of customers null.
  creator_id text,
  -- Whom it is about, sealed until it is done.
  selector bytea,
  reason text,
  -- How many rows of each table it erased, or has in its file.
  removed jsonb NOT NULL DEFAULT '{}',
  -- Files and mails that the transaction left for a job to remove; null once they are gone.
  leftovers jsonb,
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  finished_at timestamptz
);
CREATE INDEX data_requests_newest ON data_requests (brand_id, created_at DESC, id DESC);
CREATE INDEX data_requests_running ON data_requests (created_at) WHERE state = 'running';
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON data_requests
  FOR EACH ROW EXECUTE FUNCTION note_written(id);

-- The request that erased it. A later report of such an order names nobody again.
ALTER TABLE creators ADD COLUMN erased_by text;
ALTER TABLE orders ADD COLUMN erased_by text;

-- As before, with the request that erased a creator.
CREATE OR REPLACE FUNCTION sealed_columns(table_name text) RETURNS text[] IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE table_name
    WHEN 'creators' THEN '{id,email,erased_by}'
    WHEN 'data_requests' THEN '{id,kind,subject,source,state,creator_id,reason,removed,finished_at}'
    WHEN 'brands' THEN
      '{id,auto_approve_commissions,default_commission_rate_ppm,currency,time_zone,require_payment_profile}'
    WHEN 'attribution_rules' THEN '{model,coupon_policy,min_order_minor,min_order_currency,customer_policy,terms_id}'
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

-- A JSON value without what these names hold, and without strings in which one of these expressions finds something.
CREATE FUNCTION redact_json(value jsonb, names text[], expressions text[]) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  CASE jsonb_typeof(value)
    WHEN 'object' THEN
      RETURN (SELECT coalesce(jsonb_object_agg(key, CASE WHEN key = ANY (names) THEN 'null'::jsonb
        ELSE redact_json(one, names, expressions) END), '{}') FROM jsonb_each(value) AS each (key, one));
    WHEN 'array' THEN
      RETURN (SELECT coalesce(jsonb_agg(redact_json(one, names, expressions) ORDER BY place), '[]')
        FROM jsonb_array_elements(value) WITH ORDINALITY AS each (one, place));
    WHEN 'string' THEN
      RETURN CASE WHEN value #>> '{}' ~* ANY (expressions) THEN 'null'::jsonb ELSE value END;
    ELSE
      RETURN value;
  END CASE;
END $$;

-- Addresses of people who were erased and want no mails: salted hashes, each of which is compared.
CREATE INDEX mail_suppressions_erased ON mail_suppressions (brand_id) WHERE email LIKE 'sha256:%';
