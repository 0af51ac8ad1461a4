-- The key of customers' hashes. Sealed under the installation's secret, so that customers are recognized after it changes.
CREATE TABLE customer_salt (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  salt bytea NOT NULL
);
