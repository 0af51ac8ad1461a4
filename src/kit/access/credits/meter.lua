-- Counts one call of a key and optionally debits its subscription: one round trip, atomic, exact across processes.
-- KEYS: access hash, rate counter, charges stream (one hash tag); for a walk the number of its paid blocks, for a call with
--       ids of its caller's a mark under each that it was paid.
-- ARGV: key id, 0 or the number this call was already counted as, calls per window, window ms, credits to debit,
--       caller's subscription version, its period start ms ('' for unmetered), charge id, request id,
--       the key's daily and monthly credits ('' for no limit);
--       for a walk the number of the block to pay, and how long the number of paid blocks is kept (ms);
--       for a call with ids 'mark', the digest of the call, the version that it reads, how long each mark is kept (ms)
-- Returns: calls so far, window end (epoch ms), state, credits granted, remaining, debited, period start ms,
--          the key's limit that refused the debit ('' for none), what of it is left, the day (since 1970),
--          1 if the block or call was paid before, 2 if the id was used for another call, the version that it read
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

local debited, cost, paid = 0, tonumber(ARGV[5]), 0
local isMarked, read = ARGV[12] == 'mark', ''
if isMarked and state == 'ok' and cost > 0 then
  local left, lacking = 0, {}
  for i = 4, #KEYS do
    local digest, version = string.match(redis.call('GET', KEYS[i]) or '', '^(%S+) (%S+)$')
    if not digest then
      lacking[#lacking + 1] = i
    elseif digest ~= ARGV[13] then
      paid = 2
    elseif paid == 0 then
      paid, read, left = 1, version, redis.call('PTTL', KEYS[i])
    end
  end
  -- The other id stands for the same payment, and for no longer than that one.
  if paid == 1 and left > 0 then
    for _, i in ipairs(lacking) do
      redis.call('SET', KEYS[i], ARGV[13] .. ' ' .. read, 'PX', math.min(left, tonumber(ARGV[11 + i])))
    end
  end
elseif KEYS[4] and not isMarked and state == 'ok' then
  local blocks = tonumber(redis.call('GET', KEYS[4]))
  if not blocks then
    state = 'unknown'
  elseif blocks >= tonumber(ARGV[12]) then
    paid = 1
  end
end
local day, refused, left = math.floor(now / 86400000), '', 0
local ofDay, ofMonth = 'day:' .. ARGV[1] .. ':' .. day, 'month:' .. ARGV[1]
local counted = ARGV[10] ~= '' or ARGV[11] ~= ''
if state == 'ok' and paid == 0 and cost > 0 and counted then
  local spent = redis.call('HMGET', KEYS[1], ofDay, ofMonth)
  local leftOfDay = (tonumber(ARGV[10]) or math.huge) - tonumber(spent[1] or 0)
  local leftOfMonth = (tonumber(ARGV[11]) or math.huge) - tonumber(spent[2] or 0)
  if leftOfDay < cost then
    refused, left = 'key_day', math.max(0, leftOfDay)
  elseif leftOfMonth < cost then
    refused, left = 'key_month', math.max(0, leftOfMonth)
  end
end
if state == 'ok' and paid == 0 and cost > 0 and calls <= tonumber(ARGV[3]) and remaining >= cost and refused == '' then
  if counted then
    redis.call('HINCRBY', KEYS[1], ofDay, cost)
    redis.call('HINCRBY', KEYS[1], ofMonth, cost)
  end
  remaining = redis.call('HINCRBY', KEYS[1], 'remaining', -cost)
  debited = cost
  redis.call('XADD', KEYS[3], '*', 'kind', 'charge', 'charge', ARGV[8], 'key', ARGV[1], 'credits', cost,
    'period', access[2], 'request', ARGV[9], 'at', now)
  if isMarked then
    for i = 4, #KEYS do redis.call('SET', KEYS[i], ARGV[13] .. ' ' .. ARGV[14], 'PX', ARGV[11 + i]) end
  elseif KEYS[4] then
    redis.call('SET', KEYS[4], ARGV[12], 'PX', ARGV[13])
  end
end
return { calls, now + ttl, state, granted, remaining, debited, access[2] or '0', refused, left, day, paid, read }
