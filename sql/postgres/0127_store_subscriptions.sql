-- The orders that started subscriptions, as stores say that were asked. Orders themselves may name neither one another nor, when they are
-- the first, their subscription.
CREATE TABLE store_subscriptions (
  brand_id text NOT NULL REFERENCES brands (id),
  integration_id text NOT NULL REFERENCES integrations (id),
  subscription_id text NOT NULL,
  -- The store's own id of the order.
  order_id text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (integration_id, subscription_id)
);
CREATE INDEX store_subscriptions_by_order ON store_subscriptions (integration_id, order_id);

-- The lines of a newer report, with the categories and the sale that an earlier one read of the product: those are as they were first read.
CREATE FUNCTION keep_product_facts(old jsonb, new jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_path_exists(old, '$[*] ? (exists(@.categories) || exists(@.onSale))') THEN (
    SELECT jsonb_agg(coalesce((
      SELECT jsonb_strip_nulls(jsonb_build_object('categories', was -> 'categories', 'onSale', was -> 'onSale'))
      FROM jsonb_array_elements(old) AS was WHERE was ->> 'lineId' = line ->> 'lineId' LIMIT 1), '{}') || line ORDER BY place)
    FROM jsonb_array_elements(new) WITH ORDINALITY AS given (line, place)) ELSE new END
$$;
