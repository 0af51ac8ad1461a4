-- The part that an order plays in a subscription, and what its customer is recognized by. All is null where nothing was said, so that
-- rows of before keep their seals.
ALTER TABLE orders
  -- Null: `renewal` where `is_renewal`, which nothing sets any more, and `once` otherwise.
  ADD COLUMN kind text,
  ADD COLUMN subscription_id text,
  -- The one that a customer who subscribed again had before.
  ADD COLUMN previous_subscription_id text,
  -- The customer's id at the store, as a keyed hash.
  ADD COLUMN customer_id_hash bytea,
  -- Where the order was shipped to, else billed.
  ADD COLUMN country text,
  ADD CONSTRAINT orders_kind CHECK (kind IN ('first', 'renewal', 'upgrade', 'resubscribe')) NOT VALID;

-- A store's own words for the tags of its orders.
ALTER TABLE integrations
  ADD COLUMN renewal_tags text[],
  ADD COLUMN first_tags text[];
