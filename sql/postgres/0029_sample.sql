-- The brand that `npm start` fills with a sample: while it is being filled, has it, or loses it. Null: every other brand.
ALTER TABLE brands ADD COLUMN sample text CHECK (sample IN ('filling', 'filled', 'removing'));
CREATE INDEX brands_losing_their_sample ON brands (id) WHERE sample = 'removing';
