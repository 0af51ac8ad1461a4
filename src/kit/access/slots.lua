-- Takes, keeps or gives back one of a few slots. A newer holder of the same name replaces the older one.
-- KEYS: hash of the slots. ARGV: what ('take', 'keep' or 'leave'), name, token, kept for (ms), slots
-- Returns 1 if the holder has the slot; otherwise 0, or how many ms until one is free, negated
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local others, soonest = 0, now + tonumber(ARGV[4])
local holder
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local token, ends = string.match(all[i + 1], '^(.*):(%d+)$')
  ends = tonumber(ends)
  if ends <= now then
    redis.call('HDEL', KEYS[1], all[i])
  elseif all[i] == ARGV[2] then
    holder = token
  else
    others = others + 1
    soonest = math.min(soonest, ends)
  end
end
if ARGV[1] == 'leave' then
  if holder == ARGV[3] then
    redis.call('HDEL', KEYS[1], ARGV[2])
  end
  return 1
end
if ARGV[1] == 'keep' and holder and holder ~= ARGV[3] then
  return 0
end
if not holder and others >= tonumber(ARGV[5]) then
  return now - soonest
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3] .. ':' .. string.format('%.0f', now + tonumber(ARGV[4])))
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[4]))
return 1
