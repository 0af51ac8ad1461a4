-- How the file of a comparison is read, once all of it has been.
ALTER TABLE reconciliations ADD COLUMN plan jsonb;
