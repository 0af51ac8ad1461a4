-- Lists of deliverables and contracts by what is due first.
CREATE INDEX deliverables_by_due ON deliverables (brand_id, (CASE WHEN status IN ('pending', 'in_progress', 'revision_requested')
  THEN coalesce(due_date, 'infinity') ELSE 'infinity' END), id);
CREATE INDEX contracts_by_due ON contracts (brand_id, (CASE WHEN status IN ('draft', 'sent') THEN coalesce(expires_at, 'infinity')
  ELSE 'infinity' END), id);
