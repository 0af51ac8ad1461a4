-- Posts whose figures are followed, and what they were day by day.
create table content (
  id text primary key,
  brand_id text not null references brands (id),
  url text not null,
  -- The platform and the post's own id there: the same post however its address is written.
  canonical_key text not null,
  platform text not null,
  type text,
  creator_id text references creators (id),
  campaign_id text references campaigns (id),
  views bigint default 0,
  likes bigint default 0,
  comments bigint default 0,
  shares bigint default 0,
  saves bigint default 0,
  followers bigint,
  caption text,
  posted_at timestamptz,
  paid_partnership boolean,
  status text not null check (status in ('tracking', 'refreshing')),
  tracked_at timestamptz not null,
  last_refreshed timestamptz,
  refresh_requested_at timestamptz,
  refresh_error text,
  next_refresh_at timestamptz,
  deleted_at timestamptz
);
create unique index content_once on content (brand_id, canonical_key) where deleted_at is null;
create index content_of_brand on content (brand_id, tracked_at desc, id desc) where deleted_at is null;
create index content_to_refresh on content (next_refresh_at) where deleted_at is null and next_refresh_at is not null;

create table content_metrics (
  content_id text not null references content (id),
  date date not null,
  views bigint,
  likes bigint,
  comments bigint,
  shares bigint,
  saves bigint,
  primary key (content_id, date)
);
create index content_refreshing on content (refresh_requested_at) where status = 'refreshing';
