CREATE INDEX webhook_attempts_by_time ON webhook_attempts (started_at);
