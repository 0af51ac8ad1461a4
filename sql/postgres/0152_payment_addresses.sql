-- Addresses at which creators were paid before: an order by one of them is an own purchase, as one by an earlier mail address is.
CREATE FUNCTION keep_payment_address() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO creator_addresses (brand_id, creator_id, email) VALUES (OLD.brand_id, OLD.creator_id, OLD.wallet_email);
  RETURN NULL;
END $$;
CREATE TRIGGER keep_payment_address AFTER UPDATE OF wallet_email ON payment_profiles FOR EACH ROW
  WHEN (OLD.wallet_email IS NOT NULL AND OLD.wallet_email IS DISTINCT FROM NEW.wallet_email)
  EXECUTE FUNCTION keep_payment_address();
INSERT INTO creator_addresses (brand_id, creator_id, email)
  SELECT DISTINCT payouts.brand_id, payouts.creator_id, payouts.wallet_email FROM payouts
  WHERE payouts.wallet_email IS NOT NULL AND NOT EXISTS (
    SELECT FROM creator_addresses AS known
    WHERE known.brand_id = payouts.brand_id AND known.creator_id = payouts.creator_id AND known.email = payouts.wallet_email);
