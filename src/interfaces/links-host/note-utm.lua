-- Notes values in sets that take so many of them, and answers the places of those that found theirs full.
-- KEYS: the set of each value. ARGV: most values of a set, seconds for which a set is kept after its last new value, values.
local beyond = {}
local most = tonumber(ARGV[1])
for place, set in ipairs(KEYS) do
  local value = ARGV[place + 2]
  if redis.call('SISMEMBER', set, value) == 0 then
    if redis.call('SCARD', set) < most then
      redis.call('SADD', set, value)
      redis.call('EXPIRE', set, ARGV[2])
    else
      beyond[#beyond + 1] = place
    end
  end
end
return beyond
