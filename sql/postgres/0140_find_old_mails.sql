-- Mails that are done with are forgotten after a time.
create index mails_done on mails (coalesce(sent_at, created_at)) where state in ('sent', 'suppressed');
