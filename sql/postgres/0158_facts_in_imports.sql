-- A line names a person by one of these expressions, or by a field of its record: `instagram:ana`, `tiktok:ana`, `handle:ana` where the file
-- does not say of which platform, `order_id:1001`.
CREATE OR REPLACE FUNCTION names_person(line jsonb, expressions text[], handles text[]) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
  SELECT has_names(line, expressions)
    OR coalesce('instagram:' || lower(ltrim(line #>> '{record,instagram}', '@')) = ANY (handles), false)
    OR coalesce('tiktok:' || lower(ltrim(line #>> '{record,tiktok}', '@')) = ANY (handles), false)
    OR coalesce('handle:' || lower(ltrim(line #>> '{record,handle}', '@')) = ANY (handles), false)
    OR (coalesce(line -> 'record' ? 'placed_at', false) AND coalesce('order_id:'
      || lower(ltrim(coalesce(line #>> '{record,order_id}', line #>> '{record,order_number}'), '#')) = ANY (handles), false))
$$;
