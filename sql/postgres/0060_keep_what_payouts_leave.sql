-- What a payout of a creator leaves, later approvals use up; so a commission may be paid by several payouts.
ALTER TABLE payouts
  -- Of its amount what paid nothing yet and is there for later approvals. Nothing of a fee, or before it is paid.
  ADD COLUMN unallocated_minor bigint NOT NULL DEFAULT 0 CHECK (unallocated_minor >= 0),
  -- Paid for something else than commissions.
  ADD COLUMN is_fee boolean NOT NULL DEFAULT false,
  -- Paid before the ledger knew of money that goes out: it is yet to be posted.
  ADD COLUMN is_unposted boolean NOT NULL DEFAULT false;
UPDATE payouts SET is_unposted = true, paid_at = coalesce(paid_at, created_at) WHERE status = 'paid' OR method = 'wallet';
CREATE INDEX payouts_unallocated ON payouts (brand_id, creator_id, currency, paid_at, id) WHERE unallocated_minor > 0;
CREATE INDEX payouts_unposted ON payouts (brand_id, id) WHERE is_unposted;

ALTER TABLE payout_allocations
  DROP CONSTRAINT payout_allocations_pkey,
  ADD PRIMARY KEY (commission_id, payout_id),
  -- When it paid that. Null: when its payout was paid.
  ADD COLUMN at timestamptz;

ALTER TABLE ledger_entries
  DROP CONSTRAINT ledger_entries_kind_check,
  ADD CONSTRAINT ledger_entries_kind_check CHECK (kind IN
    ('sale', 'refund', 'approval', 'rejection', 'payment', 'adjustment', 'payout', 'manual')) NOT VALID;
CREATE INDEX ledger_entries_by_payout ON ledger_entries (brand_id, payout_id) WHERE payout_id IS NOT NULL;
CREATE INDEX ledger_entries_by_time ON ledger_entries (brand_id, recorded_at, seq);

-- The note that a commission had before a refund or a cancellation rejected it: it returns with the status.
ALTER TABLE commissions ADD COLUMN note_before_rejection text;
-- A commission that the brand records itself has no order and no link.
ALTER TABLE commissions ALTER COLUMN order_id DROP NOT NULL, ALTER COLUMN link_id DROP NOT NULL,
  ALTER COLUMN affiliate_code DROP NOT NULL;
-- Conversions that came by a click.
CREATE INDEX commissions_by_click ON commissions (brand_id, occurred_at) WHERE click_id IS NOT NULL AND paid_at IS NOT NULL;

-- When an application was first accepted, which is told of once.
ALTER TABLE applications ADD COLUMN approved_at timestamptz;
UPDATE applications SET approved_at = coalesce(updated_at, applied_at) WHERE status = 'accepted';
UPDATE applications SET approved_at = told.at
  FROM (SELECT brand_id, data ->> 'id' AS id, min(created_at) AS at FROM outbox
        WHERE event = 'application.approved' GROUP BY brand_id, data ->> 'id') AS told
  WHERE applications.brand_id = told.brand_id AND applications.id = told.id AND applications.approved_at IS NULL;

-- Which commissions a payout paid as it was settled; later approvals may use up what it left.
ALTER TABLE payouts ADD COLUMN settled_ids text[];
