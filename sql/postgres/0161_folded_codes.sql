-- The one form in which codes are compared: without case in any alphabet (νικος is ΝΙΚΟΣ, i̇pek is İPEK), without width and
-- without invisible characters. Accents stay. foldCase of src/kit/values/fold.ts is its twin.
CREATE FUNCTION fold_code(value text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql
RETURN CASE
  WHEN octet_length(value) = char_length(value) THEN lower(value COLLATE pg_unicode_fast)
  ELSE replace(normalize(casefold(upper(
    regexp_replace(normalize(value, NFKC), '[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]', '', 'g')
    COLLATE pg_unicode_fast)), NFKC), U&'i\0307', 'i')
END;

DROP INDEX link_past_codes_by_code;
CREATE INDEX link_past_codes_by_code ON link_past_codes (brand_id, fold_code(code), until);

-- Codes that differed only in what is no longer compared stay, and each pays for orders that spell it as it is written. All other
-- spellings are the older one's, and no new code is like either of them.
DROP INDEX links_value;
DO $$
DECLARE
  younger text;
BEGIN
  SELECT string_agg(quote_literal(id), ', ') INTO younger FROM (
    SELECT id, row_number() OVER (PARTITION BY brand_id, type, fold_code(value) ORDER BY created_at, id) AS place FROM links
  ) AS placed WHERE place > 1;
  EXECUTE 'CREATE UNIQUE INDEX links_value ON links (brand_id, type, fold_code(value))'
    || coalesce(' WHERE id NOT IN (' || younger || ')', '');
  IF younger IS NOT NULL THEN
    CREATE INDEX links_by_value ON links (brand_id, type, fold_code(value));
  END IF;
END $$;
