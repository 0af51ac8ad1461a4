-- Counts one call of a key and optionally debits its subscription: one round trip, atomic, exact across processes.
-- KEYS: access hash, rate counter, charges stream (one hash tag).
-- ARGV: key id, 0 or the number this call was already counted as, calls per window, window ms, credits to debit,
--       caller's subscription version, its period start ms ('' for unmetered), charge id, request id
-- Returns: calls so far, window end (epoch ms), state, credits granted, remaining, debited, period start ms
local calls, ttl
if ARGV[2] == '0' then
  calls = redis.call('INCR', KEYS[2])
  ttl = calls == 1 and -1 or redis.call('PTTL', KEYS[2])
  if ttl < 0 then
    ttl = tonumber(ARGV[4])
    redis.call('PEXPIRE', KEYS[2], ttl)
  end
else
  calls = tonumber(ARGV[2])
  ttl = math.max(redis.call('PTTL', KEYS[2]), 0)
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local access = redis.call('HMGET', KEYS[1], 'version', 'period', 'granted', 'remaining', 'revoked:' .. ARGV[1])
local version, period = tonumber(access[1]), tonumber(access[2])
local granted, remaining = tonumber(access[3] or 0), tonumber(access[4] or 0)
local state = 'ok'
if not version or version < tonumber(ARGV[6]) or (ARGV[7] ~= '' and period < tonumber(ARGV[7])) then
  state = 'absent'
elseif version > tonumber(ARGV[6]) then
  state = 'outdated'
elseif access[5] then
  state = 'revoked'
end

local debited, cost = 0, tonumber(ARGV[5])
if state == 'ok' and cost > 0 and calls <= tonumber(ARGV[3]) and remaining >= cost then
  remaining = redis.call('HINCRBY', KEYS[1], 'remaining', -cost)
  debited = cost
  redis.call('XADD', KEYS[3], '*', 'kind', 'charge', 'charge', ARGV[8], 'key', ARGV[1], 'credits', cost,
    'period', access[2], 'request', ARGV[9], 'at', now)
end
return { calls, now + ttl, state, granted, remaining, debited, access[2] or '0' }
