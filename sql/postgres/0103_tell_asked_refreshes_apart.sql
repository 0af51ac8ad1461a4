-- When the refresh that runs began. A reading that comes by itself was not asked for: the hour in which a request does
-- nothing counts from the requests, refresh_requested_at.
alter table content add column refresh_began_at timestamptz;
update content set refresh_began_at = refresh_requested_at where status = 'refreshing';
create index content_being_refreshed on content (refresh_began_at) where status = 'refreshing';
