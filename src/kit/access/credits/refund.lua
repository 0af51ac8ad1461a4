-- Refunds a charge: adds the stream entry for the ledger, and raises the balance if the charge's period is current.
-- Lowers what the key spent, if its spending is counted and the charge's day is known.
-- Removes the marks by which a repeat of the call would be free.
-- KEYS: access hash, charges stream, the marks that the call has. ARGV: charge id, key id, credits, period start ms, request id, day ('' if unknown)
for i = 3, #KEYS do redis.call('DEL', KEYS[i]) end
local time = redis.call('TIME')
redis.call('XADD', KEYS[2], '*', 'kind', 'refund', 'charge', ARGV[1], 'key', ARGV[2], 'credits', ARGV[3],
  'period', ARGV[4], 'request', ARGV[5], 'at', time[1] * 1000 + math.floor(time[2] / 1000))
local function lower(field)
  if ARGV[6] ~= '' and redis.call('HEXISTS', KEYS[1], field) == 1 then
    redis.call('HINCRBY', KEYS[1], field, -ARGV[3])
  end
end
lower('day:' .. ARGV[2] .. ':' .. ARGV[6])
if redis.call('HGET', KEYS[1], 'period') == ARGV[4] then
  lower('month:' .. ARGV[2])
  return redis.call('HINCRBY', KEYS[1], 'remaining', ARGV[3])
end
return 0
