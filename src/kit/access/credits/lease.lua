-- Takes the lease to write a subscription's access hash and removes the hash: no call is debited until it is rebuilt.
-- KEYS: access hash, lease. ARGV: token, lease ms
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then
  redis.call('DEL', KEYS[1])
  return 1
end
return 0
