-- Changes by a person (each of their sessions is a key), and to records of one kind (`cmp_`): of 100,000 entries, both lists read all.
CREATE INDEX audit_log_by_key ON audit_log (brand_id, key_id, at DESC, id DESC);
CREATE INDEX audit_log_by_kind ON audit_log (brand_id, (left(resource_id, 4)), at DESC, id DESC);
