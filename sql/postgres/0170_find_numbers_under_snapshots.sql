-- A brand's last numbers: one row, whose key moves on with each change. While somebody holds a snapshot (a CSV, pg_dump), its old
-- versions stay with their index entries; the newest is found from the key's end and checked for uniqueness under a key
-- of its own, so that nobody walks the others.
CREATE TABLE outbox_numbers (
  brand_id text NOT NULL REFERENCES brands (id),
  version bigint NOT NULL,
  seq bigint NOT NULL,
  ledger_seq bigint NOT NULL,
  ledger_hash bytea,
  ledger_recorded_at timestamptz,
  moved_at timestamptz,
  PRIMARY KEY (brand_id, version)
);
CREATE INDEX outbox_numbers_moved ON outbox_numbers (moved_at);

-- A head is inserted once a brand, and its numbers with it.
CREATE FUNCTION begin_outbox_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox_numbers (brand_id, version, seq, ledger_seq, ledger_hash, ledger_recorded_at, moved_at)
    VALUES (NEW.brand_id, 0, NEW.seq, NEW.ledger_seq, NEW.ledger_hash, NEW.ledger_recorded_at, NEW.moved_at);
  RETURN NULL;
END $$;

-- The release before takes its numbers from the head: it is given those that follow, and what it writes is kept.
CREATE FUNCTION follow_outbox_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  numbers outbox_numbers;
BEGIN
  UPDATE outbox_numbers SET
    version = version + 1,
    seq = seq + NEW.seq - OLD.seq,
    ledger_seq = ledger_seq + NEW.ledger_seq - OLD.ledger_seq,
    ledger_hash = CASE WHEN NEW.ledger_hash IS DISTINCT FROM OLD.ledger_hash THEN NEW.ledger_hash ELSE ledger_hash END,
    ledger_recorded_at = CASE WHEN NEW.ledger_recorded_at IS DISTINCT FROM OLD.ledger_recorded_at
      THEN NEW.ledger_recorded_at ELSE ledger_recorded_at END,
    moved_at = NEW.moved_at
    WHERE brand_id = NEW.brand_id
    RETURNING * INTO numbers;
  NEW.seq := numbers.seq;
  NEW.ledger_seq := numbers.ledger_seq;
  NEW.ledger_hash := numbers.ledger_hash;
  NEW.ledger_recorded_at := numbers.ledger_recorded_at;
  RETURN NEW;
END $$;

-- From here on nobody writes a head until the numbers are copied.
CREATE TRIGGER outbox_numbers_begin AFTER INSERT ON outbox_heads FOR EACH ROW EXECUTE FUNCTION begin_outbox_numbers();
CREATE TRIGGER outbox_numbers_follow BEFORE UPDATE ON outbox_heads FOR EACH ROW EXECUTE FUNCTION follow_outbox_numbers();
INSERT INTO outbox_numbers (brand_id, version, seq, ledger_seq, ledger_hash, ledger_recorded_at, moved_at)
  SELECT brand_id, 0, seq, ledger_seq, ledger_hash, ledger_recorded_at, moved_at FROM outbox_heads;
