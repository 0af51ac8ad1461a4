-- Null: the parameters of a click are forwarded to the shop, as if it said true; rows of before keep their seals.
ALTER TABLE links ADD COLUMN forward_parameters boolean;
