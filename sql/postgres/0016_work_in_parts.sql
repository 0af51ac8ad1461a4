-- What workers share out among them: whose turn it is to be delivered to, and whose events each of them relays.

-- A webhook with pending deliveries is due when the earliest of them is. Workers lock the rows that are due longest and
-- skip those that another has locked, so no lock covers more than one webhook.
CREATE TABLE webhook_turns (
  subscription_id text PRIMARY KEY REFERENCES webhook_subscriptions (id) ON DELETE CASCADE,
  -- As in webhook_subscriptions: slow webhooks have slots of their own.
  is_slow boolean NOT NULL,
  -- Never later than the earliest delivery that may be claimed. Null: none is pending.
  due_at timestamptz
);
CREATE INDEX webhook_turns_due ON webhook_turns (is_slow, due_at) WHERE due_at IS NOT NULL;

-- Every statement that leaves pending deliveries makes their webhooks due, also one of an earlier release. Only the worker
-- that has locked a turn sets it later.
CREATE FUNCTION advance_webhook_turns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_turns AS turn (subscription_id, is_slow, due_at)
  SELECT webhook.id, webhook.is_slow, pending.due_at
  FROM (SELECT subscription_id, min(next_attempt_at) AS due_at FROM written WHERE state = 'pending'
    GROUP BY subscription_id) AS pending
  JOIN webhook_subscriptions webhook ON webhook.id = pending.subscription_id
  ORDER BY webhook.id
  ON CONFLICT (subscription_id) DO UPDATE SET due_at = excluded.due_at
  WHERE turn.due_at IS NULL OR turn.due_at > excluded.due_at;
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_deliveries_inserted AFTER INSERT ON webhook_deliveries
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION advance_webhook_turns();
CREATE TRIGGER webhook_deliveries_updated AFTER UPDATE ON webhook_deliveries
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION advance_webhook_turns();

-- A webhook's latest attempt decides which slots it uses.
CREATE FUNCTION note_webhook_pool() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhook_turns SET is_slow = NEW.is_slow WHERE subscription_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_subscriptions_pool AFTER UPDATE ON webhook_subscriptions
  FOR EACH ROW WHEN (OLD.is_slow IS DISTINCT FROM NEW.is_slow) EXECUTE FUNCTION note_webhook_pool();

INSERT INTO webhook_turns (subscription_id, is_slow, due_at)
SELECT webhook.id, webhook.is_slow, min(delivery.next_attempt_at)
FROM webhook_deliveries delivery JOIN webhook_subscriptions webhook ON webhook.id = delivery.subscription_id
WHERE delivery.state = 'pending' GROUP BY webhook.id;

-- Workers that relay events, and until when each counts as alive. Times are this server's.
CREATE TABLE relay_workers (
  id text PRIMARY KEY,
  alive_until timestamptz NOT NULL
);

-- Brands fall into 64 parts by the hash of their id. Each part has one holder at most; its lease runs out when the holder
-- dies. Leases save work and nothing else: the lock on a brand's position decides who relays its events.
CREATE TABLE relay_parts (
  part smallint PRIMARY KEY,
  holder text,
  held_until timestamptz
);
INSERT INTO relay_parts (part) SELECT generate_series(0, 63);
