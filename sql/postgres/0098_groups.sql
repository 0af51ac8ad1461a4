-- Creators with one deal, and the terms of groups, campaigns and the brand beside those of links.
CREATE TABLE creator_groups (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  name text NOT NULL,
  -- Whoever joins the roster joins it.
  is_default boolean NOT NULL,
  -- Defaults of the codes and links that its creators get later.
  hold_days integer,
  attribution_days integer,
  terms_id text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz,
  deleted_at timestamptz,
  UNIQUE (brand_id, id),
  FOREIGN KEY (brand_id, terms_id) REFERENCES terms (brand_id, id)
);
CREATE UNIQUE INDEX creator_groups_name ON creator_groups (brand_id, lower(name)) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX creator_groups_default ON creator_groups (brand_id) WHERE is_default AND deleted_at IS NULL;
CREATE INDEX creator_groups_newest ON creator_groups (brand_id, created_at DESC, id DESC);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON creator_groups
  FOR EACH ROW EXECUTE FUNCTION note_written(id);

CREATE TABLE group_memberships (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  group_id text NOT NULL,
  creator_id text NOT NULL,
  since timestamptz NOT NULL,
  until timestamptz,
  FOREIGN KEY (brand_id, group_id) REFERENCES creator_groups (brand_id, id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
-- A creator is in at most one group.
CREATE UNIQUE INDEX group_memberships_present ON group_memberships (brand_id, creator_id) WHERE until IS NULL;
CREATE INDEX group_memberships_of_creator ON group_memberships (brand_id, creator_id);
CREATE INDEX group_memberships_of_group ON group_memberships (brand_id, group_id, since DESC, id DESC);
CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON group_memberships
  FOR EACH ROW EXECUTE FUNCTION note_written(id);

-- True: it has no terms of its own, and takes those of its group, its campaign or the brand.
ALTER TABLE links ADD COLUMN inherits_terms boolean;

ALTER TABLE campaigns
  ADD COLUMN terms_id text,
  ADD CONSTRAINT campaigns_terms FOREIGN KEY (brand_id, terms_id) REFERENCES terms (brand_id, id) NOT VALID;
ALTER TABLE attribution_rules
  ADD COLUMN terms_id text,
  ADD CONSTRAINT attribution_rules_terms FOREIGN KEY (brand_id, terms_id) REFERENCES terms (brand_id, id) NOT VALID;

-- The brand's terms are sealed with its rules, as before for the others.
CREATE OR REPLACE FUNCTION sealed_columns(table_name text) RETURNS text[] IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE table_name
    WHEN 'creators' THEN '{id,email}'
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
