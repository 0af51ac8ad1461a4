-- Requests that a page made for itself, as for a picture or a frame: no visits.
ALTER TABLE clicks_v1 MODIFY COLUMN IF EXISTS kind Enum8('counted' = 1, 'repeat' = 2, 'bot' = 3, 'prefetch' = 4, 'head' = 5, 'embedded' = 6);
