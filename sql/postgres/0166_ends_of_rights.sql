-- Rights with a fixed first day end that many days later, in the zone of their brand. Rights that were set on an asset had no end,
-- and those of contracts ended by the clocks of UTC. An end that somebody set to another time stays.
WITH agreed AS MATERIALIZED (
  SELECT assets.id, assets.rights_expires_at AS old_end,
    ((assets.rights ->> 'starts_on')::date + (assets.rights ->> 'days')::integer)::timestamp AS wall,
    coalesce((SELECT name FROM pg_timezone_names WHERE lower(name) = lower(brands.time_zone) LIMIT 1), 'UTC') AS zone
  FROM assets JOIN brands ON brands.id = assets.brand_id
  WHERE assets.rights ->> 'starts_on' IS NOT NULL AND assets.rights ->> 'days' IS NOT NULL
)
UPDATE assets SET rights_expires_at = agreed.wall AT TIME ZONE agreed.zone, updated_at = now()
FROM agreed
WHERE assets.id = agreed.id
  AND (agreed.old_end IS NULL OR agreed.old_end = agreed.wall AT TIME ZONE 'UTC')
  AND agreed.old_end IS DISTINCT FROM agreed.wall AT TIME ZONE agreed.zone;
