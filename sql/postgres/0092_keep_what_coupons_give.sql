-- What a store's coupon takes off and when it ends, as of when it was verified.
alter table links add column discount_ppm integer, add column expires_at timestamptz;
