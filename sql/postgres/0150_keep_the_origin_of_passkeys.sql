-- The page that a passkey was made on: only there may it sign in. Null: made before this was kept; then only `API_URL` is.
ALTER TABLE passkeys ADD COLUMN origin text;
