-- Pauses the clicks of brands, or keeps them paused. KEYS: paused. ARGV: 'begin' or 'renew', ms, brands.
-- Answers 0, and renews nothing, when a pause has run out: clicks may have been inserted since.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 3, #ARGV do
  local till = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if ARGV[1] == 'renew' and (not till or tonumber(till) <= now) then return 0 end
end
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
