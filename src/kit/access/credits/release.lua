-- Writes the access hash if the lease is still ours: the data of an expired holder is out of date.
-- KEYS: access hash, lease. ARGV: token, then the hash's fields and values
if redis.call('GET', KEYS[2]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2])
if #ARGV > 1 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 2))
end
return 1
