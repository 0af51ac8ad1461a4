-- Refunds a charge: adds the stream entry for the ledger, and raises the balance if the charge's period is current.
-- KEYS: access hash, charges stream. ARGV: charge id, key id, credits, period start ms, request id
local time = redis.call('TIME')
redis.call('XADD', KEYS[2], '*', 'kind', 'refund', 'charge', ARGV[1], 'key', ARGV[2], 'credits', ARGV[3],
  'period', ARGV[4], 'request', ARGV[5], 'at', time[1] * 1000 + math.floor(time[2] / 1000))
if redis.call('HGET', KEYS[1], 'period') == ARGV[4] then
  return redis.call('HINCRBY', KEYS[1], 'remaining', ARGV[3])
end
return 0
