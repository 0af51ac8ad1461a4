-- Which clicks led to orders: what a shop's pixel reports, and how many orders carry a click.

-- A click that a shop's pixel named for an order. Nobody signs it, so it counts only for an order that paid nobody.
CREATE TABLE order_clicks (
  integration_id text NOT NULL,
  order_id text NOT NULL,
  brand_id text NOT NULL REFERENCES brands (id),
  -- The click id with our signature.
  click text NOT NULL,
  received_at timestamptz NOT NULL,
  -- When its order was decided again with it.
  used_at timestamptz,
  PRIMARY KEY (integration_id, order_id, click),
  FOREIGN KEY (brand_id, integration_id) REFERENCES integrations (brand_id, id)
);
CREATE INDEX order_clicks_by_time ON order_clicks (received_at);
CREATE INDEX order_clicks_of_store ON order_clicks (integration_id, received_at);

-- The last orders of a store, and those of them that carried a click of the brand.
CREATE INDEX orders_of_store ON orders (integration_id, occurred_at DESC);
CREATE INDEX orders_with_click ON orders (integration_id, occurred_at DESC)
  WHERE attribution @? '$.candidates[*] ? (@.type == "click" && @.link_id != null)';
