-- Whether agents may do by themselves what sends data out, such as make a webhook.
ALTER TABLE agent_policies ADD COLUMN data_out boolean NOT NULL DEFAULT false;
