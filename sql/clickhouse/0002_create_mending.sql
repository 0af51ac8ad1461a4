-- What was done since this server started, hence in memory: one that was killed may lack a batch it takes for stored.
CREATE TABLE IF NOT EXISTS mending_v1 (
  step Enum8('waiting' = 1, 'done' = 2),
  -- What was on its way when the server was first met: the clicks' batch and the ledger's.
  claim String,
  batch UInt64
)
ENGINE = Memory;
