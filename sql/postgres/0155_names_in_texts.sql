-- A text in which each match of these expressions is replaced: what others wrote stays, without who is named in it.
CREATE FUNCTION replace_names(value text, expressions text[]) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
  expression text;
BEGIN
  FOREACH expression IN ARRAY expressions LOOP
    value := regexp_replace(value, expression, 'erased', 'gi');
  END LOOP;
  RETURN value;
END $$;

CREATE FUNCTION replace_names(value text[], expressions text[]) RETURNS text[] IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE WHEN value IS NOT NULL THEN coalesce((SELECT array_agg(replace_names(one, expressions) ORDER BY place)
    FROM unnest(value) WITH ORDINALITY AS each (one, place)), '{}') END
$$;

-- Also in the names of fields: a mapping of an import says by name who is meant.
CREATE FUNCTION replace_names(value jsonb, expressions text[]) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  CASE jsonb_typeof(value)
    WHEN 'object' THEN
      RETURN (SELECT coalesce(jsonb_object_agg(replace_names(key, expressions), replace_names(one, expressions)), '{}')
        FROM jsonb_each(value) AS each (key, one));
    WHEN 'array' THEN
      RETURN (SELECT coalesce(jsonb_agg(replace_names(one, expressions) ORDER BY place), '[]')
        FROM jsonb_array_elements(value) WITH ORDINALITY AS each (one, place));
    WHEN 'string' THEN
      RETURN to_jsonb(replace_names(value #>> '{}', expressions));
    ELSE
      RETURN value;
  END CASE;
END $$;

CREATE FUNCTION replace_names(value json, expressions text[]) RETURNS json IMMUTABLE LANGUAGE sql AS $$
  SELECT replace_names(value::jsonb, expressions)::json
$$;

-- True of a value in which something would be replaced.
CREATE FUNCTION has_names(value text, expressions text[]) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
  SELECT coalesce(value ~* ANY (expressions), false)
$$;
CREATE FUNCTION has_names(value text[], expressions text[]) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
  SELECT EXISTS (SELECT FROM unnest(value) AS one WHERE one ~* ANY (expressions))
$$;
CREATE FUNCTION has_names(value jsonb, expressions text[]) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
  SELECT replace_names(value, expressions) IS DISTINCT FROM value
$$;
CREATE FUNCTION has_names(value json, expressions text[]) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
  SELECT has_names(value::jsonb, expressions)
$$;

-- Addresses and handles, as keyed hashes, of people who were erased while the import waited or ran: it writes nothing of them. Of one
-- whose file named such a person, the file goes as soon as it ends.
ALTER TABLE imports
  ADD COLUMN erased_hashes text[] NOT NULL DEFAULT '{}',
  ADD COLUMN names_erased boolean NOT NULL DEFAULT false;

-- A line names a person by one of these expressions, or by a handle of its record.
CREATE FUNCTION names_person(line jsonb, expressions text[], handles text[]) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
  SELECT has_names(line, expressions)
    OR coalesce(lower(ltrim(line #>> '{record,instagram}', '@')) = ANY (handles) OR lower(ltrim(line #>> '{record,tiktok}', '@')) = ANY (handles)
      OR lower(ltrim(line #>> '{record,handle}', '@')) = ANY (handles), false)
$$;

-- What is left of a reading whose file names somebody who was erased: of each line that names them no cell and no record, of columns no
-- samples.
CREATE FUNCTION forget_lines(value jsonb, expressions text[], handles text[]) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  CASE jsonb_typeof(value)
    WHEN 'object' THEN
      IF value ? 'cells' THEN
        RETURN CASE WHEN names_person(value, expressions, handles)
          THEN value || '{"cells": [], "record": null}' || CASE WHEN value ? 'value' THEN '{"value": null}'::jsonb ELSE '{}' END
          ELSE value END;
      END IF;
      RETURN (SELECT coalesce(jsonb_object_agg(key, CASE WHEN key = 'samples' THEN '[]'::jsonb
        ELSE forget_lines(one, expressions, handles) END), '{}') FROM jsonb_each(value) AS each (key, one));
    WHEN 'array' THEN
      RETURN (SELECT coalesce(jsonb_agg(forget_lines(one, expressions, handles) ORDER BY place), '[]')
        FROM jsonb_array_elements(value) WITH ORDINALITY AS each (one, place));
    ELSE
      RETURN value;
  END CASE;
END $$;
