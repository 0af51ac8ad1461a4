-- Orders that were recorded before this moment may have been won with `pays_renewals` without a row of their customer. The rows are
-- made in the background, in the order of the orders' ids.
CREATE TABLE past_customers (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  until timestamptz NOT NULL DEFAULT now(),
  after_id text NOT NULL DEFAULT '',
  done_at timestamptz
);
INSERT INTO past_customers DEFAULT VALUES;
