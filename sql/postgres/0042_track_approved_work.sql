-- Whether the post that was handed in is followed once it is approved.
ALTER TABLE deliverables ADD COLUMN track boolean NOT NULL DEFAULT false;
