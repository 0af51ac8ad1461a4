-- Fixes the next batch once: whoever asks is given the same one until it is acknowledged.
-- KEYS: stream, claim, paused. ARGV: bytes. Answers the batch's token,
-- whether somebody was given it before, and of each entry the rows and repeats; or nothing.
local STEP = 16
local function append(batch, entry)
  batch[#batch + 1] = entry[2][2]
  batch[#batch + 1] = entry[2][4]
end
local claim = redis.call('GET', KEYS[2])
if claim then
  local from, to = string.match(claim, '^(.*):(.*)$')
  local batch = { claim, 'again' }
  for _, entry in ipairs(redis.call('XRANGE', KEYS[1], from, to)) do append(batch, entry) end
  return batch
end
-- A rebuild is folding clicks again: what was begun is ended, and nothing new is begun.
if redis.call('EXISTS', KEYS[3]) == 1 then return {} end
local batch = { '', '' }
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
return batch
