-- A store may take back a refund that a payout netted: a later payout then returns it, as netting below zero.
ALTER TABLE payouts DROP CONSTRAINT payouts_netted_minor_check;
