-- Products on their way to creators, and the public pages that show them.
create table shipments (
  id text primary key,
  brand_id text not null references brands (id),
  creator_id text not null references creators (id),
  campaign_id text references campaigns (id),
  carrier text,
  tracking_number text,
  estimated_arrival date,
  product_description text,
  products json,
  shipping_address json,
  notes text,
  status text not null check (status in ('created', 'pending', 'shipped', 'delivered', 'returned')),
  tracking_status text,
  tracking_events json not null default '[]',
  -- Where the carrier's client knows this parcel by an id of its own, and when it is asked next.
  tracking_ref text,
  track_at timestamptz,
  creator_confirmed_receipt boolean not null default false,
  confirmed_at timestamptz,
  reported_missing_at timestamptz,
  shipped_at timestamptz,
  delivered_at timestamptz,
  link_version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz
);
create index shipments_of_brand on shipments (brand_id, created_at desc, id desc);
create index shipments_of_creator on shipments (brand_id, creator_id);
create index shipments_to_track on shipments (track_at) where track_at is not null;

create table shipment_shares (
  share_id text primary key,
  brand_id text not null references brands (id),
  campaign_id text references campaigns (id),
  title text,
  campaign_name text,
  logo_url text,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index shipment_shares_of_brand on shipment_shares (brand_id, created_at desc);
