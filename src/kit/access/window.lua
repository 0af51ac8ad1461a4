-- Counts one call from an address. KEYS: counter. ARGV: window ms. Returns: calls so far, window end (epoch ms)
local calls = redis.call('INCR', KEYS[1])
local ttl = calls == 1 and -1 or redis.call('PTTL', KEYS[1])
if ttl < 0 then
  ttl = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ttl)
end
local time = redis.call('TIME')
return { calls, time[1] * 1000 + math.floor(time[2] / 1000) + ttl }
