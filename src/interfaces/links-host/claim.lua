-- Fixes the next batch once: whoever asks is given the same one until it is acknowledged.
-- KEYS: stream, claim, paused, what was paused at the claim, held. ARGV: bytes. Answers the batch's token, whether it was
-- given before, the brands that were paused when it was fixed, and of each entry the rows and repeats; or nothing.
local STEP = 16
local function append(batch, entry)
  batch[#batch + 1] = entry[2][2]
  batch[#batch + 1] = entry[2][4]
end
local claim = redis.call('GET', KEYS[2])
if claim then
  local from, to = string.match(claim, '^(.*):(.*)$')
  local batch = { claim, 'again', redis.call('GET', KEYS[4]) or '' }
  for _, entry in ipairs(redis.call('XRANGE', KEYS[1], from, to)) do append(batch, entry) end
  return batch
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local paused = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. now, '+inf')
if #paused == 0 then
  for _, rows in ipairs(redis.call('LPOP', KEYS[5], STEP) or {}) do
    redis.call('XADD', KEYS[1], '*', 'rows', rows, 'repeats', '')
  end
end
local batch = { '', '', table.concat(paused, ' ') }
local from = '-'
local first, last
local bytes = 0
local limit = tonumber(ARGV[1])
repeat
  local entries = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', STEP)
  for _, entry in ipairs(entries) do
    if bytes < limit then
      first = first or entry[1]
      last = entry[1]
      append(batch, entry)
      bytes = bytes + #entry[2][2]
    end
  end
  from = '(' .. (last or '')
until #entries < STEP or bytes >= limit
if not first then return {} end
batch[1] = first .. ':' .. last
redis.call('SET', KEYS[2], batch[1])
if #paused > 0 then redis.call('SET', KEYS[4], batch[3]) else redis.call('DEL', KEYS[4]) end
return batch
