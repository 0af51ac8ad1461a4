-- One row, which /readyz writes again and again to see that PostgreSQL takes writes.
CREATE TABLE readiness_writes (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  written_at timestamptz NOT NULL
);
