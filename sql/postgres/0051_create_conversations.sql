-- What a brand and a creator write to each other: one conversation of each two, its messages numbered.

CREATE TABLE conversations (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  creator_id text NOT NULL,
  -- Also the number of the last message.
  message_count integer NOT NULL CHECK (message_count >= 0),
  last_message_at timestamptz NOT NULL,
  brand_unread integer NOT NULL DEFAULT 0 CHECK (brand_unread >= 0),
  creator_unread integer NOT NULL DEFAULT 0 CHECK (creator_unread >= 0),
  link_version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  UNIQUE (brand_id, id),
  UNIQUE (brand_id, creator_id),
  FOREIGN KEY (brand_id, creator_id) REFERENCES creators (brand_id, id)
);
CREATE INDEX conversations_newest ON conversations (brand_id, last_message_at DESC, id DESC);
CREATE INDEX conversations_unread ON conversations (brand_id, last_message_at DESC, id DESC) WHERE brand_unread > 0;

CREATE TABLE messages (
  id text PRIMARY KEY,
  brand_id text NOT NULL REFERENCES brands (id),
  conversation_id text NOT NULL,
  number integer NOT NULL,
  sender text NOT NULL CHECK (sender IN ('creator', 'brand')),
  subject text,
  body text NOT NULL,
  sent_at timestamptz NOT NULL,
  read_at timestamptz,
  email_state text NOT NULL CHECK (email_state IN ('none', 'queued', 'suppressed')),
  UNIQUE (conversation_id, number) DEFERRABLE INITIALLY IMMEDIATE,
  FOREIGN KEY (brand_id, conversation_id) REFERENCES conversations (brand_id, id)
);

-- When two records of a creator are joined, a brand may have written to both: the one conversation then has the messages
-- of the other, in the order of their times, and the other is gone.
CREATE FUNCTION join_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  kept conversations;
BEGIN
  SELECT * INTO kept FROM conversations
    WHERE brand_id = NEW.brand_id AND creator_id = NEW.creator_id AND id <> NEW.id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NEW;
  END IF;
  SET CONSTRAINTS messages_conversation_id_number_key DEFERRED;
  UPDATE messages SET conversation_id = kept.id, number = number + kept.message_count WHERE conversation_id = OLD.id;
  UPDATE messages SET number = ordered.number
    FROM (
      SELECT id, row_number() OVER (ORDER BY sent_at, number) AS number FROM messages WHERE conversation_id = kept.id
    ) AS ordered
    WHERE messages.id = ordered.id;
  SET CONSTRAINTS messages_conversation_id_number_key IMMEDIATE;
  UPDATE conversations SET
    message_count = kept.message_count + OLD.message_count,
    last_message_at = greatest(kept.last_message_at, OLD.last_message_at),
    brand_unread = kept.brand_unread + OLD.brand_unread,
    creator_unread = kept.creator_unread + OLD.creator_unread
    WHERE id = kept.id;
  DELETE FROM conversations WHERE id = OLD.id;
  RETURN NULL;
END
$$;

CREATE TRIGGER conversations_join BEFORE UPDATE OF creator_id ON conversations
  FOR EACH ROW WHEN (OLD.creator_id <> NEW.creator_id) EXECUTE FUNCTION join_conversations();
