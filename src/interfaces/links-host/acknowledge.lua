-- Forgets a batch that is stored. One that was acknowledged by another is left alone: the claim may be the next one.
-- KEYS: stream, claim, what was paused at the claim, held. ARGV: token, rows of paused brands
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
local ms, seq = string.match(ARGV[1], ':(%d+)-(%d+)$')
redis.call('XTRIM', KEYS[1], 'MINID', '=', ms .. '-' .. (seq + 1))
redis.call('DEL', KEYS[2], KEYS[3])
if ARGV[2] ~= '' then redis.call('RPUSH', KEYS[4], ARGV[2]) end
return 1
