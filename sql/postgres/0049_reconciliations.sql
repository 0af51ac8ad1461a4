-- What a job found, beside its files.
ALTER TABLE jobs ADD COLUMN result jsonb;

-- Comparisons of a store's orders with ours. The row goes once the orders below it have been removed.
CREATE TABLE reconciliations (
  job_id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  FOREIGN KEY (brand_id, job_id) REFERENCES jobs (brand_id, id)
);

-- Orders as a file or a store lists them, while a job compares them with ours.
CREATE TABLE reconciled_orders (
  job_id text NOT NULL REFERENCES reconciliations (job_id),
  brand_id text NOT NULL REFERENCES brands (id),
  order_id text NOT NULL,
  currency text NOT NULL,
  -- What the goods cost; a range where a file does not tell their tax from that of shipping. Null: it could not be read.
  least_minor bigint,
  most_minor bigint,
  refunded_minor bigint NOT NULL,
  -- Whether the refund is of goods alone, without tax and shipping.
  is_refund_exact boolean NOT NULL,
  -- Whether all of the order was refunded.
  is_refunded boolean NOT NULL,
  is_cancelled boolean NOT NULL,
  PRIMARY KEY (job_id, order_id)
);
