-- Forgets a batch that is stored. One that was acknowledged by another is left alone: the claim may be the next one.
-- KEYS: stream, claim. ARGV: token
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
local ms, seq = string.match(ARGV[1], ':(%d+)-(%d+)$')
redis.call('XTRIM', KEYS[1], 'MINID', '=', ms .. '-' .. (seq + 1))
redis.call('DEL', KEYS[2])
return 1
