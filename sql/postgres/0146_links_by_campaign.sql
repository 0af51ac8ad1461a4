-- The links of a page of campaigns, for what each campaign sold: without it all links of the brand were read, 22 ms of 20,000
-- instead of 5.
CREATE INDEX links_by_campaign ON links (brand_id, campaign_id) WHERE campaign_id IS NOT NULL;
