-- Gives a lease to one holder: where it is free, has run out, or is the holder's own.
-- KEYS[1] the lease; KEYS[2] the last fence; ARGV holder, now, until, how many milliseconds that is. Gives the fence, or 0.
-- A fence is never below the time: should this server forget the last one, fences still rise.

local held = redis.call('HMGET', KEYS[1], 'holder', 'until')
if held[1] and held[1] ~= ARGV[1] and tonumber(held[2]) > tonumber(ARGV[2]) then return 0 end
local fence = math.max(tonumber(redis.call('GET', KEYS[2]) or '0') + 1, tonumber(ARGV[2]))
local text = string.format('%.0f', fence)
redis.call('SET', KEYS[2], text)
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'fence', text, 'until', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return fence
