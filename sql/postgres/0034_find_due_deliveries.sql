-- Whether any delivery is due is asked twice a second, however many wait for a later attempt.
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (next_attempt_at) WHERE state = 'pending';
