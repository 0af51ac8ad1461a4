-- As before, called once for each object and list within a value, not for each text: somebody with 10,000 orders stands in tens of
-- thousands of events.
CREATE OR REPLACE FUNCTION redact_json(value jsonb, names text[], expressions text[]) RETURNS jsonb
IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  CASE jsonb_typeof(value)
    WHEN 'object' THEN
      RETURN (SELECT coalesce(jsonb_object_agg(key, CASE
          WHEN key = ANY (names) THEN 'null'::jsonb
          WHEN jsonb_typeof(one) IN ('object', 'array') THEN redact_json(one, names, expressions)
          WHEN jsonb_typeof(one) = 'string' AND one #>> '{}' ~* ANY (expressions) THEN 'null'::jsonb
          ELSE one END), '{}')
        FROM jsonb_each(value) AS each (key, one));
    WHEN 'array' THEN
      RETURN (SELECT coalesce(jsonb_agg(CASE
          WHEN jsonb_typeof(one) IN ('object', 'array') THEN redact_json(one, names, expressions)
          WHEN jsonb_typeof(one) = 'string' AND one #>> '{}' ~* ANY (expressions) THEN 'null'::jsonb
          ELSE one END ORDER BY place), '[]')
        FROM jsonb_array_elements(value) WITH ORDINALITY AS each (one, place));
    WHEN 'string' THEN
      RETURN CASE WHEN value #>> '{}' ~* ANY (expressions) THEN 'null'::jsonb ELSE value END;
    ELSE
      RETURN value;
  END CASE;
END $$;
