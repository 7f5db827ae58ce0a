-- Prolongs a lease while it holds. KEYS[1] the lease; ARGV holder, fence, now, until, how many milliseconds that is. Gives 1, or 0.

local held = redis.call('HMGET', KEYS[1], 'holder', 'fence', 'until')
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] or tonumber(held[3]) <= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'until', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
