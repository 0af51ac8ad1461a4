-- Null: the mail address is paid where a creator has no payment profile; brands of before keep their seals.
ALTER TABLE brands ADD COLUMN require_payment_profile boolean CHECK (require_payment_profile);
-- The address that the creator asked for on their page, until the link in the mail about it is followed.
ALTER TABLE payment_profiles ADD COLUMN requested text;
